// Two sandboxes of one login on another machine, over SSH.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { ssh } from '@litterbox/provider-ssh';
import { pidsOf, RepositoryFixture, SshServer } from '@litterbox/testing';
import { createLitterbox, type Litterbox } from 'litterbox';
import { onTheHost } from '../../src/index.ts';

/** The tests' own, see `tools/test-host`. */
const ORDINARY_USER = 'litterbox-test';
const PLANTED = 'planted by the attack a77';
/** What programs of a login read. */
const LOGIN_FILES = ['.ssh/rc', '.ssh/authorized_keys', '.bashrc', '.profile'];

class OtherMachine extends RepositoryFixture {
  readonly there: string;
  readonly #server: SshServer;
  readonly #user: string;

  private constructor(server: SshServer, user: string) {
    super({ 'a.txt': 'a\n' });
    this.#server = server;
    this.#user = user;
    this.there = join(this.directory, 'there');
    mkdirSync(this.there);
    chmodSync(this.directory, 0o755);
    execFileSync('chown', [user, this.there]);
    this.defer(() => server[Symbol.asyncDispose]());
  }

  static async open(user: string): Promise<OtherMachine> {
    return new OtherMachine(await SshServer.start(), user);
  }

  readonly litterbox = async (): Promise<Litterbox> => {
    const provider = await ssh({
      ...this.#server.loginBy(this.#server.port, this.#user),
      provider: overlayfs,
      kind: 'overlayfs',
      name: 'box',
      directory: join(this.there, 'state'),
    });
    const { repository: repo, stateDirectory } = this;
    const litterbox = createLitterbox({ repo, providers: [provider], stateDirectory });
    this.defer(async () => {
      await litterbox[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    });
    return litterbox;
  };
}

const homeOf = (user: string) => execFileSync('sh', ['-c', `echo ~${user}`], { encoding: 'utf8' }).trim();

if (process.getuid?.() === 0) {
  describe('sandboxes on another machine', () => {
    it.each([userInfo().username, ORDINARY_USER])(
      'A77: of the login %s, one sees, ends and plants nothing of the other, or of the login',
      async (user) => {
        await using machine = await OtherMachine.open(user);
        const litterbox = await machine.litterbox();
        await using victim = await litterbox.create({ name: 'victim' });
        await using agent = await litterbox.create({ name: 'agent' });
        const mark = `${34_000 + Math.floor(performance.now())}`;
        const work = victim.run(`echo secret >secret.txt; sleep ${mark}; cat secret.txt`);
        work.catch(() => {}); // it is awaited below
        await eventually(
          async () => pidsOf(mark).length,
          (count) => count > 0,
        );
        const home = homeOf(user);
        const before = LOGIN_FILES.map((file) => contentOf(join(home, file)));
        const places = [
          join(machine.there, 'state'),
          join(machine.there, 'state/overlayfs/sandboxes', victim.record.id),
          ...pidsOf(mark).flatMap((pid) => [`/proc/${pid}/root/etc`, `/proc/${pid}/environ`]),
        ];
        // The positive control: all of it is there, for programs that are in no sandbox.
        for (const place of places) expect([place, onTheHost(['ls', '-d', place]).code]).toEqual([place, 0]);
        const attempt = [
          ...places.map((place) => `ls -d ${place} 2>/dev/null`),
          ...LOGIN_FILES.map((file) => `mkdir -p ${home}/.ssh; echo '# ${PLANTED}' >>${home}/${file}`),
          ...pidsOf(mark).map((pid) => `kill -9 ${pid}`),
          'ls -d /tmp/.litterbox-* /run/litterbox-* 2>/dev/null',
          'echo done',
        ];
        expect((await agent.run(`{ ${attempt.join('\n')}\n} 2>/dev/null`)).stdout).toBe('done\n');
        expect(LOGIN_FILES.map((file) => contentOf(join(home, file)))).toEqual(before);
        expect(pidsOf(mark)).not.toEqual([]);
        for (const pid of pidsOf(mark)) process.kill(Number(pid));
        expect((await work).stdout).toBe('secret\n');
        for (const name of ['victim', 'agent']) await litterbox.delete(name, { force: true });
      },
      120_000,
    );
  });
}

const contentOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);
