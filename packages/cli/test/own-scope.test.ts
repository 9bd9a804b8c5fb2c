import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Asked {
  readonly args: readonly string[];
  readonly program: readonly string[];
  readonly uid: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly root: string;
  readonly owner: number;
}

const { scopeArguments } = createRequire(import.meta.url)('../bin/own-scope.cjs') as {
  scopeArguments(asked: Asked): readonly string[] | undefined;
};

const UID = 1234;

/** A machine with systemd whose user has logged in, and a `systemd-run` that tells what it was asked for. */
class Machine implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), 'litterbox-scope-'));

  constructor(isRefused = false) {
    this.write('sys/fs/cgroup/cgroup.controllers', 'cpu memory pids\n');
    this.write(`run/user/${UID}/systemd/private`, '');
    this.write('proc/self/cgroup', `0::/user.slice/user-${UID}.slice/session-1.scope\n`);
    const words = isRefused ? 'exit 1' : 'echo "scope: $*"; while [ "$1" != -- ]; do shift; done; shift; exec "$@"';
    this.write('usr/bin/systemd-run', `#!/bin/sh\n${words}\n`);
    chmodSync(join(this.root, 'usr/bin/systemd-run'), 0o755);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  readonly asked = (change: Partial<Asked> = {}) =>
    scopeArguments({
      args: ['create', "it's"],
      program: ['/bin/echo'],
      uid: UID,
      env: {},
      root: this.root,
      owner: process.getuid?.() ?? 0,
      ...change,
    });

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

const outputOf = (words: readonly string[] | undefined) =>
  execFileSync('/bin/sh', words?.slice(1) ?? ['-c', 'exit 9'], { encoding: 'utf8' });

describe('the scope of an ordinary user', () => {
  it('is asked for where it gives limits, and the command arrives as it was', () => {
    using machine = new Machine();
    expect(outputOf(machine.asked())).toMatch(
      /^scope: --user --scope --quiet -p Delegate=yes -- true\nscope: .* -- \/bin\/echo create it's\ncreate it's\n$/,
    );
  });

  it('is gone without where the session manager refuses', () => {
    using machine = new Machine(true);
    expect(outputOf(machine.asked())).toBe("create it's\n");
  });

  it('is not asked for by root, twice, or by a command that starts nothing', () => {
    using machine = new Machine();
    expect(machine.asked({ uid: 0 })).toBeUndefined();
    expect(machine.asked({ env: { LITTERBOX_SCOPE: 'own' } })).toBeUndefined();
    expect(machine.asked({ args: ['list'] })).toBeUndefined();
  });

  it('is not asked for where nothing is gained, or nobody can give it', () => {
    const changes: readonly ((machine: Machine) => void)[] = [
      ({ root }) => rmSync(join(root, 'sys/fs/cgroup/cgroup.controllers')), // version 1
      ({ root }) => rmSync(join(root, `run/user/${UID}/systemd/private`)),
      (machine) => machine.write('proc/self/cgroup', `0::/user.slice/user@${UID}.service/app.slice/a.scope\n`),
      (machine) => machine.write(`sys/fs/cgroup/user.slice/user-${UID}.slice/session-1.scope/cgroup.procs`, ''),
    ];
    for (const change of changes) {
      using machine = new Machine();
      change(machine);
      expect(machine.asked()).toBeUndefined();
    }
  });

  it('is asked for by the program that root installed, and by no other', () => {
    using machine = new Machine();
    expect(machine.asked({ owner: UID })).toBeUndefined();
    chmodSync(join(machine.root, 'usr/bin/systemd-run'), 0o775);
    expect(machine.asked()).toBeUndefined();
    rmSync(join(machine.root, 'usr/bin/systemd-run'));
    expect(machine.asked({ env: { PATH: join(machine.root, 'elsewhere') } })).toBeUndefined();
  });
});
