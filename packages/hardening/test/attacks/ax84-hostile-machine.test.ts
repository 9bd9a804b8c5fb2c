// What another machine keeps of a sandbox, and says of it, is held to a shape.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { ssh } from '@litterbox/provider-ssh';
import { RepositoryFixture, SshServer } from '@litterbox/testing';
import { createLitterbox, isLitterboxError, type Litterbox } from 'litterbox';

const HOSTILE = '\u001b]0;owned\u0007\u202e';

class OtherMachine extends RepositoryFixture {
  readonly there: string;
  readonly #server: SshServer;

  private constructor(server: SshServer) {
    super({ 'a.txt': 'a\n' });
    this.#server = server;
    this.there = join(this.directory, 'there');
    mkdirSync(this.there);
    this.defer(() => server[Symbol.asyncDispose]());
  }

  static async open(): Promise<OtherMachine> {
    return new OtherMachine(await SshServer.start());
  }

  /** One more program of the person's. */
  readonly litterbox = async (): Promise<Litterbox> => {
    const provider = await ssh({
      ...this.#server.login,
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

  /** What a person of that machine puts in the place of a file of the sandbox's. */
  writes(id: string, name: string, content: string): void {
    writeFileSync(join(this.there, 'state/overlayfs/sandboxes', id, name), content);
  }

  reads(id: string, name: string): string {
    return readFileSync(join(this.there, 'state/overlayfs/sandboxes', id, name), 'utf8');
  }

  get snapshots(): string {
    return join(this.there, 'state/overlayfs/snapshots');
  }
}

/** What a call is refused with: its code, if a person can read all of it. */
async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'done';
  } catch (error) {
    if (!isLitterboxError(error)) return `no error of ours: ${String(error)}`;
    const told = `${error.message} ${error.details.hint}`;
    return /^[ -~…\n]*$/.test(told) ? error.code : `unreadable: ${JSON.stringify(told)}`;
  }
}

if (process.getuid?.() === 0) {
  describe('a machine that writes what it likes', () => {
    it('AX84: the description of a sandbox is one, or the sandbox is broken, and a mended one works again', async () => {
      await using machine = await OtherMachine.open();
      const first = await machine.litterbox();
      const { record } = await first.create({ name: 'a' });
      await first[Symbol.asyncDispose]();
      const whole = machine.reads(record.id, 'meta.json');
      const meta = JSON.parse(whole) as Readonly<Record<string, object>>;
      const written = [
        HOSTILE,
        'null',
        '[]',
        ...[
          { id: '00000000-0000-4000-8000-000000000000' },
          { workdir: '/src/../../etc' },
          { environment: null },
          { environment: { A: 1 } },
          { limits: null },
          { limits: { ...meta['limits'], openFiles: '4096; echo' } },
          { playground: '../../../etc' },
          { strategy: '__proto__' },
          { base: '../../../etc' },
          { root: null },
          { over: { base: '/etc', difference: HOSTILE } },
          // It would stand on the person's working tree.
          { live: { directory: machine.repository, hiddenPaths: [], shownPaths: [] } },
        ].map((change) => JSON.stringify({ ...meta, ...change })),
      ];
      const litterbox = await machine.litterbox();
      for (const content of written) {
        machine.writes(record.id, 'meta.json', content);
        const sandbox = (await litterbox.list()).find(({ name }) => name === 'a');
        expect([content, sandbox?.state, await refusal((await litterbox.open('a')).run('true'))]).toEqual([
          content,
          'ready',
          'SANDBOX_BROKEN',
        ]);
      }
      machine.writes(record.id, 'meta.json', whole);
      const { stdout } = await (await litterbox.open('a')).run('cat a.txt');
      expect(stdout).toBe('a\n'); // the positive control: nothing else was wrong
      await litterbox.delete('a', { force: true });
    }, 120_000);

    it('AX84: what is kept of a running session is what one can be, or nothing is done in it', async () => {
      await using machine = await OtherMachine.open();
      const first = await machine.litterbox();
      await using sandbox = await first.create({ name: 'a' });
      await sandbox.run('true');
      const { id } = sandbox.record;
      const whole = machine.reads(id, 'session.json');
      const { assurance, network } = JSON.parse(whole) as Readonly<Record<'assurance' | 'network', object>>;
      const written = [
        HOSTILE,
        '{}',
        'null',
        JSON.stringify({ assurance, network: { ...network, path: `/tmp/${HOSTILE}` } }),
        JSON.stringify({ assurance: { ...assurance, controls: [{ name: HOSTILE }] }, network }),
        JSON.stringify({ assurance: { ...assurance, controls: { length: 1e9 } }, network }),
      ];
      for (const content of written) {
        machine.writes(id, 'session.json', `${content}\n`);
        const second = await machine.litterbox();
        expect([content, await refusal((await second.open('a')).run('true'))]).toEqual([content, 'SANDBOX_BROKEN']);
        await second[Symbol.asyncDispose]();
      }
      machine.writes(id, 'session.json', whole);
      const second = await machine.litterbox();
      expect((await (await second.open('a')).run('cat a.txt')).stdout).toBe('a\n');
      await second[Symbol.asyncDispose]();
    }, 120_000);

    it('AX84: numbers of directories that are none cost time alone, and no work is lost', async () => {
      await using machine = await OtherMachine.open();
      const litterbox = await machine.litterbox();
      const { record } = await litterbox.create({ name: 'a' });
      await (await litterbox.open('a')).run('mkdir -p d/e && echo 1 >d/e/1');
      await litterbox[Symbol.asyncDispose]();
      for (const [index, content] of [HOSTILE, 'null', '{"known":7}', '{"known":[[1]],"pending":[]}'].entries()) {
        machine.writes(record.id, 'scan-state.json', content);
        const next = await machine.litterbox();
        const { recorded } = await (await next.open('a')).run(
          `mv d/e d/e${index}; mv d/e${index} d/e; echo >d/${index}`,
        );
        expect(recorded.revision).toBeDefined();
        expect((await next.changes('a')).map(({ path }) => path)).toContain(`d/${index}`);
        await next[Symbol.asyncDispose]();
      }
    }, 120_000);

    it('AX84: what it tells of snapshots is names, times and notes, and a note of another history is not followed', async () => {
      await using machine = await OtherMachine.open();
      const litterbox = await machine.litterbox();
      await using sandbox = await litterbox.create({ name: 'a' });
      await sandbox.run('echo mine >mine');
      await using other = await litterbox.create({ name: 'b' });
      await other.run('echo secret >secret');
      let foreign = '';
      for await (const { commit } of litterbox.log('b')) foreign ||= commit;
      await sandbox.snapshot({ label: 'one' });
      const [name = ''] = readdirSync(machine.snapshots).filter((entry) => /^[0-9a-f-]{36}$/.test(entry));
      const file = join(machine.snapshots, name, 'kept.json');
      const kept = JSON.parse(readFileSync(file, 'utf8')) as { readonly note: string };
      const note = JSON.parse(kept.note) as object;
      for (const takenAtMs of ['1e999', '-1', '1e300', '"now"', 'null']) {
        writeFileSync(file, JSON.stringify(kept).replace(/"takenAtMs":\d+/, `"takenAtMs":${takenAtMs}`));
        const [told] = await sandbox.snapshots();
        expect([takenAtMs, Number.isNaN(new Date(told?.takenAtMs ?? Number.NaN).getTime())]).toEqual([
          takenAtMs,
          false,
        ]);
      }
      const noted = (change: object) =>
        writeFileSync(file, JSON.stringify({ ...kept, note: JSON.stringify({ ...note, ...change }) }));
      noted({ commit: foreign });
      expect(await refusal(sandbox.restoreSnapshot('one'))).toBe('REV_NOT_FOUND');
      noted({ label: HOSTILE });
      expect((await sandbox.snapshots()).map((one) => 'note' in one)).toEqual([false]);
      writeFileSync(file, JSON.stringify(kept));
      expect(await refusal(sandbox.restoreSnapshot('one'))).toBe('done'); // the positive control
      rmSync(join(machine.snapshots, name), { recursive: true });
      for (const one of ['a', 'b']) await litterbox.delete(one, { force: true });
    }, 120_000);
  });
}
