import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { GitRunner } from '../src/git/run-git.ts';
import { UserGit, type UserGitCall } from '../src/git/user-git.ts';
import { GitFixture } from './git-fixture.ts';

/** Tells what it was started with, and what of standard input there is. Its file `does` says what it does then. */
const FAKE = `#!/bin/sh
[ "$1" = version ] && exec echo git version 2.54.0
{ env -0 | sort -z; printf '%s\\0' "$PWD" "$@"; cat; } >"\${0%/*}/told"
. "\${0%/*}/does"
`;
/** What simple-git adds of its own: git's default, said aloud. */
const ADDED = /^GIT_TEST_DISALLOW_ABBREVIATED_OPTIONS=false$/;

class FakeGitFixture extends GitFixture {
  readonly #bin = join(this.directory, 'a bin');
  readonly runner: GitRunner;
  readonly asked: UserGit;

  constructor(does: string) {
    super();
    mkdirSync(this.#bin);
    writeFileSync(join(this.#bin, 'git'), FAKE);
    writeFileSync(join(this.#bin, 'does'), does);
    chmodSync(join(this.#bin, 'git'), 0o755);
    this.runner = this.#runner(join(this.#bin, 'git'));
    this.asked = new UserGit(this.runner);
  }

  /** The git of this machine, asked by simple-git. */
  real(): UserGit {
    return new UserGit(this.#runner(undefined));
  }

  call(setting: UserGitCall['setting'], ...args: readonly string[]): UserGitCall {
    return { setting, args, cwd: this.directory, gitDirectory: `${this.directory}/x.git`, environment: { GIT_A: 'b' } };
  }

  told(): readonly string[] {
    return readFileSync(join(this.#bin, 'told'), 'latin1').split('\0');
  }

  removeGit(): void {
    rmSync(this.#bin, { recursive: true });
  }

  #runner(binary: string | undefined): GitRunner {
    return new GitRunner({
      binary,
      environment: { ...this.environment, GIT_DIR: '/evil', EDITOR: 'evil', GIT_AUTHOR_NAME: 'Ada' },
      home: join(this.directory, 'no-home'),
    });
  }
}

describe('git by simple-git', () => {
  test.each(['sealed', 'user'] as const)(
    'is started %s with the same environment, directory and words as the plumbing',
    async (setting) => {
      await using fixture = new FakeGitFixture('');
      const call = fixture.call(setting, '-c', 'safe.directory=/a b', 'status', '-z');
      await fixture.runner.run(call);
      const wanted = fixture.told();
      await fixture.asked.run(call);
      const got = fixture.told();
      expect(wanted).toContain('core.fsmonitor=false');
      expect(got.filter((word) => !ADDED.test(word)).toSorted()).toEqual([...wanted].toSorted());
      expect(got.slice(got.indexOf(fixture.directory) + 1)).toEqual(
        expect.arrayContaining(['-c', 'safe.directory=/a b', 'status', '-z']),
      );
    },
  );

  test('nothing that an answer says is lost: the code, bytes that are no UTF-8, what it complains of', async () => {
    await using fixture = new FakeGitFixture("printf 'a\\377\\0\\n'; printf 'oh\\n' >&2; exit 3");
    const answer = await fixture.asked.run(fixture.call('user', 'config'));
    expect(answer).toEqual({ code: 3, stdout: Buffer.from('a\u00ff\0\n', 'latin1'), stderr: 'oh\n' });
    await expect(fixture.asked.output(fixture.call('user', '-c', 'a=b', 'config'))).rejects.toThrow(
      'git config ended with 3: oh',
    );
  });

  test('an answer of nothing is not waited for once more', async () => {
    await using fixture = new FakeGitFixture('');
    const timer = jest.spyOn(globalThis, 'setTimeout');
    try {
      expect(await fixture.asked.run(fixture.call('sealed', 'config'))).toMatchObject({ code: 0, stderr: '' });
      expect(timer).not.toHaveBeenCalled();
    } finally {
      timer.mockRestore();
    }
  });

  test('more output than there may be ends it, whatever it does at an interrupt', async () => {
    await using fixture = new FakeGitFixture("trap '' INT; exec yes >&2");
    const clone = { setting: 'sealed', settings: [], url: 'https://a.test/b', cwd: fixture.directory } as const;
    await expect(fixture.asked.clone({ ...clone, directory: join(fixture.directory, 'clone') })).rejects.toThrow(
      'more than 16777216 bytes of output',
    );
  });

  test('an abort ends it, and rejects with its own reason', async () => {
    await using fixture = new FakeGitFixture(': >"$HOME/runs"; exec sleep 1000');
    const stop = new AbortController();
    const reason = new Error('enough');
    const watcher = watch(fixture.home);
    const started = once(watcher, 'change');
    const running = fixture.asked.run({ ...fixture.call('user', 'status'), signal: stop.signal });
    await Promise.race([started, running]);
    watcher.close();
    stop.abort(reason);
    await expect(running).rejects.toBe(reason);
    await expect(fixture.asked.run({ ...fixture.call('user', 'status'), signal: stop.signal })).rejects.toBe(reason);
  });

  test('a git or a directory that is gone is told with the code of the system', async () => {
    await using fixture = new FakeGitFixture('');
    const call = fixture.call('user', 'status');
    await expect(fixture.asked.run({ ...call, cwd: join(fixture.directory, 'gone') })).rejects.toMatchObject({
      code: 'ENOENT',
    });
    await fixture.asked.run(call); // finds git
    fixture.removeGit();
    await expect(fixture.asked.run(call)).rejects.toMatchObject({ code: 'TOOL_MISSING' });
  });

  test('a clone is given what it needs behind settings and words of its own', async () => {
    await using fixture = new FakeGitFixture('printf "fatal: no\\n" >&2; exit 128');
    const clone = { setting: 'sealed', settings: ['http.followRedirects=false'], cwd: fixture.directory } as const;
    const where = { url: 'https://a.test/b', directory: join(fixture.directory, 'clone') };
    expect(await fixture.asked.clone({ ...clone, ...where })).toMatchObject({ code: 128, stderr: 'fatal: no' });
    const words = fixture.told();
    expect(words.slice(words.indexOf('clone'), -1)).toEqual([
      'clone',
      '--quiet',
      '--bare',
      '--template=',
      '--',
      where.url,
      where.directory,
    ]);
    const settings = words.filter((_word, at) => words[at - 1] === '-c');
    expect(settings).toContain('protocol.allow=never');
    expect(settings.at(-1)).toBe('http.followRedirects=false');
  });

  test('the git of this machine clones, and tells of it', async () => {
    await using fixture = new FakeGitFixture('');
    const root = fixture.repository(Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${at}`, `${at}\n`])));
    const progress: string[] = [];
    const directory = join(fixture.directory, 'clone.git');
    const { code } = await fixture.real().clone({
      setting: 'sealed',
      settings: ['protocol.file.allow=always'],
      environment: { GIT_ALLOW_PROTOCOL: 'file' },
      url: `file://${root}`,
      directory,
      cwd: fixture.directory,
      onProgress: ({ message }) => progress.push(message),
    });
    expect(code).toBe(0);
    expect(fixture.git(directory, 'rev-parse', 'HEAD')).toBe(fixture.git(root, 'rev-parse', 'HEAD'));
    expect(progress).toContain('Receiving objects: 100 %');
  });

  test('an abort ends a clone and its directory, and the program that talks to the server is waited for', async () => {
    await using fixture = new FakeGitFixture('');
    const server = createServer();
    const asked = once(server, 'connection') as Promise<[Socket]>;
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const stop = new AbortController();
      const reason = new Error('enough');
      const cloning = fixture.real().clone({
        setting: 'sealed',
        settings: ['protocol.http.allow=always'],
        environment: { GIT_ALLOW_PROTOCOL: 'http' },
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.git`,
        directory: join(fixture.directory, 'clone.git'),
        cwd: fixture.directory,
        signal: stop.signal,
      });
      const [socket] = (await Promise.race([asked, cloning])) as [Socket];
      stop.abort(reason);
      const left = once(socket, 'close');
      socket.resume().destroy();
      await expect(cloning).rejects.toBe(reason);
      await left;
      expect(existsSync(join(fixture.directory, 'clone.git'))).toBe(false);
    } finally {
      server.close();
    }
  });
});
