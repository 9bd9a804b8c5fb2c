// Two sandboxes of one login on another machine, over SSH.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { pidsOf, RemoteFixture } from '@litterbox/testing';
import { onTheHost } from '../../src/index.ts';
import { remoteLitterbox } from './remote-litterbox.ts';

/** The tests' own, see `tools/test-host`. */
const ORDINARY_USER = 'litterbox-test';
const PLANTED = 'planted by the attack a77';
/** What programs of a login read. */
const LOGIN_FILES = ['.ssh/rc', '.ssh/authorized_keys', '.bashrc', '.profile'];

const homeOf = (user: string) => execFileSync('sh', ['-c', `echo ~${user}`], { encoding: 'utf8' }).trim();

if (process.getuid?.() === 0) {
  describe('sandboxes on another machine', () => {
    it.each([userInfo().username, ORDINARY_USER])(
      'A77: of the login %s, one sees, ends and plants nothing of the other, or of the login',
      async (user) => {
        await using machine = await RemoteFixture.apart({ user, files: { 'a.txt': 'a\n' } });
        const litterbox = await remoteLitterbox(machine);
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
          machine.there,
          join(machine.there, 'overlayfs/sandboxes', victim.record.id),
          ...pidsOf(mark).flatMap((pid) => [`/proc/${pid}/root/etc`, `/proc/${pid}/environ`]),
        ];
        // The positive control: all of it is there, for programs that are in no sandbox.
        for (const place of places) expect([place, onTheHost(['ls', '-d', place]).code]).toEqual([place, 0]);
        const attempt = [
          ...places.map((place) => `ls -d ${place} 2>/dev/null`),
          ...LOGIN_FILES.map((file) => `mkdir -p ${home}/.ssh; echo '# ${PLANTED}' >>${home}/${file}`),
          ...pidsOf(mark).map((pid) => `kill -9 ${pid}`),
          'ls -d /tmp/.litterbox-* /run/litterbox-* 2>/dev/null | grep -vx /run/litterbox-init', // its own first program
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
