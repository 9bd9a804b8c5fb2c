// Programs of PATH that need more than their directory: what is shown for them, and what is read in place of credentials.
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { collected } from '@litterbox/conformance';
import { type Host, SandboxId, type SandboxProvider, type SandboxRuntime } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { Fixture } from '@litterbox/testing';
import { overlayfs } from '../src/index.ts';
import { backendDirectory, removeBackend } from './backends.ts';
import { sandboxSpec } from './sandbox-spec.ts';

/** Programs below a home, and a sandbox that has the given directories of them in its PATH. */
class ToolsFixture extends Fixture {
  home = '';

  static async open(): Promise<ToolsFixture> {
    const fixture = new ToolsFixture();
    fixture.home = await mkdtemp(join(tmpdir(), 'litterbox-home-'));
    await chmod(fixture.home, 0o755);
    fixture.defer(() => rm(fixture.home, { recursive: true, force: true }));
    return fixture;
  }

  async program(path: string, script: string): Promise<void> {
    await mkdir(dirname(join(this.home, path)), { recursive: true });
    await writeFile(join(this.home, path), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  async file(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.home, path)), { recursive: true });
    await writeFile(join(this.home, path), text);
  }

  async link(path: string, target: string): Promise<void> {
    await mkdir(dirname(join(this.home, path)), { recursive: true });
    await symlink(target, join(this.home, path));
  }

  #directory: string | undefined;

  /** As a program has it that is started with these directories of programs in PATH. */
  async provider(...directories: readonly string[]): Promise<SandboxProvider> {
    const local = localHost();
    const facts = await local.facts();
    const searchPath = [...directories.map((path) => join(this.home, path)), '/usr/bin', '/bin'];
    const host: Host = {
      ...local,
      facts: () => Promise.resolve({ ...facts, searchPath, homeDirectory: this.home }),
    };
    if (this.#directory === undefined) {
      const made = await backendDirectory('overlay');
      this.defer(() => removeBackend(made));
      this.#directory = made;
    }
    return overlayfs({ host, facts: await host.facts(), directory: this.#directory });
  }

  async sandbox(...directories: readonly string[]): Promise<SandboxRuntime> {
    const provider = await this.provider(...directories);
    const id = SandboxId.make();
    const runtime = await provider.create(sandboxSpec(id, { allowDegraded: true }));
    this.defer(async () => {
      await runtime[Symbol.asyncDispose]();
      await provider.remove(id);
    });
    return runtime;
  }
}

async function said(runtime: SandboxRuntime, script: string): Promise<string> {
  const { stdout, stderr } = await collected(await runtime.spawn({ argv: ['sh', '-c', script] }));
  return stdout + stderr;
}

describe('programs of PATH that need more than their directory', () => {
  it('run: links into packages and environments, libraries beside them', async () => {
    await using fixture = await ToolsFixture.open();
    await fixture.program('prefix/lib/t', 'echo from-lib');
    await fixture.link('prefix/bin/from-prefix', '../lib/t');
    await fixture.program('.local/share/pipx/venvs/v/bin/v', 'echo from-environment');
    await fixture.file('.local/share/pipx/venvs/v/pyvenv.cfg', '');
    await fixture.link('.local/bin/from-environment', '../share/pipx/venvs/v/bin/v');
    await fixture.program('app/node_modules/p/cli', 'cat "$(dirname "$(readlink -f "$0")")/data"');
    await fixture.file('app/node_modules/p/data', 'from-package\n');
    await fixture.link('.local/bin/from-package', '../../app/node_modules/p/cli');
    await fixture.program(
      'maven/bin/from-maven',
      'cat "$(dirname "$0")/../boot/jar" "$(dirname "$0")/../conf/settings"',
    );
    for (const [path, text] of [
      ['bin/m2.conf', ''],
      ['boot/jar', 'from-boot '],
      ['conf/settings', 'from-conf\n'],
    ] as const)
      await fixture.file(`maven/${path}`, text);

    const runtime = await fixture.sandbox('prefix/bin', '.local/bin', 'maven/bin');
    expect(await said(runtime, 'from-prefix; from-environment; from-package; from-maven')).toBe(
      'from-lib\nfrom-environment\nfrom-package\nfrom-boot from-conf\n',
    );
  });

  it("FC-17: are the sandbox's own whichever terminal calls later, and what is new there comes on top", async () => {
    await using fixture = await ToolsFixture.open();
    for (const directory of ['made', 'later']) {
      await fixture.program(`${directory}/bin/both`, `echo ${directory}`);
      await fixture.program(`${directory}/bin/in-${directory}`, `. "$(dirname "$0")/../lib/words"`);
      await fixture.file(`${directory}/lib/words`, `echo words of ${directory}`);
    }
    const made = await fixture.sandbox('made/bin');
    await made[Symbol.asyncDispose]();
    const terminals: readonly (readonly [directories: readonly string[], words: string])[] = [
      [[], 'made\nwords of made\nnone\n'],
      [['later/bin'], 'made\nwords of made\nwords of later\n'],
      [['later/bin', 'made/bin'], 'made\nwords of made\nwords of later\n'],
    ];
    for (const [directories, words] of terminals) {
      const terminal = await fixture.provider(...directories);
      await using runtime = await terminal.open(made.id);
      expect(await said(runtime, 'both; in-made; in-later 2>/dev/null || echo none')).toBe(words);
    }
    // What is gone since is not there, and nothing fails of it.
    await rm(join(fixture.home, 'made'), { recursive: true });
    const terminal = await fixture.provider('later/bin');
    await using runtime = await terminal.open(made.id);
    expect(await said(runtime, 'both')).toBe('later\n');
  });

  it('are named where they lead to files that are not shown, which stay out of reach', async () => {
    await using fixture = await ToolsFixture.open();
    await fixture.program('src/private/run', 'echo private');
    await fixture.file('src/private/letter', 'to somebody');
    await fixture.link('bin/private', '../src/private/run');
    await fixture.program('bin/plain', 'echo plain');
    await fixture.file('lib/letter', 'to somebody');
    const runtime = await fixture.sandbox('bin');
    expect((await runtime.assurance()).unreachable).toEqual([
      { path: join(fixture.home, 'bin/private'), target: join(fixture.home, 'src/private/run') },
    ]);
    expect(await said(runtime, `plain; ls ${fixture.home} ${fixture.home}/bin`)).toBe(
      `plain\n${fixture.home}:\nbin\n\n${fixture.home}/bin:\nplain\nprivate\n`,
    );
  });

  it('read an empty file in place of one that may hold credentials', async () => {
    await using fixture = await ToolsFixture.open();
    await fixture.program('maven/bin/mvn', 'cat "$(dirname "$0")/../lib/settings.xml" && echo read');
    await fixture.file('maven/lib/settings.xml', '<password>secret</password>');
    await fixture.file('maven/lib/auth.json', 'secret');
    await fixture.file('maven/lib/deep/token', 'secret');
    await fixture.file('maven/lib/tokens/one', 'secret');
    const runtime = await fixture.sandbox('maven/bin');
    const lib = join(fixture.home, 'maven/lib');
    expect(await said(runtime, `mvn; cd ${lib}; cat auth.json deep/token; ls tokens; echo x >auth.json`)).toBe(
      '<settings/>read\n{}sh: 1: cannot create auth.json: Read-only file system\n',
    );
    expect(new Set((await runtime.assurance()).masked)).toEqual(
      new Set(['settings.xml', 'auth.json', 'deep/token', 'tokens'].map((name) => join(lib, name))),
    );
    expect(await readFile(join(lib, 'auth.json'), 'utf8')).toBe('secret');
  });

  it('FC-531: of version managers run without the logins, settings and packages beside them', async () => {
    await using fixture = await ToolsFixture.open();
    for (const [path, script] of [
      ['.cargo/bin/cargo', 'echo cargo'],
      [
        '.nvm/versions/node/v20/bin/node',
        'cat "$(dirname "$0")/../lib/node_modules/npm/index.js" "$(dirname "$0")/../include/node/node.h"',
      ],
      ['.pyenv/bin/pyenv', 'cat "$(dirname "$0")/../version"'],
      ['.asdf/bin/asdf', 'cat "$(dirname "$0")/../installs/x/1/lib/code"'],
      ['go/bin/gopls', 'echo gopls'],
      ['kit/bin/kit', '. "$(dirname "$0")/../lib/words"'],
    ] as const)
      await fixture.program(path, script);
    for (const [path, text] of [
      ['.nvm/versions/node/v20/lib/node_modules/npm/index.js', 'npm '],
      ['.nvm/versions/node/v20/include/node/node.h', 'node'],
      ['.pyenv/version', '3.12'],
      ['.asdf/installs/x/1/lib/code', 'code'],
      ['kit/lib/words', 'echo kit'],
    ] as const)
      await fixture.file(path, `${text}\n`);
    const secrets = [
      '.cargo/config',
      '.cargo/store/token',
      '.cargo/registry/src/private/lib.rs',
      '.nvm/versions/node/v20/etc/npmrc',
      '.nvm/.npmrc',
      '.pyenv/versions/3.12/etc/pip.conf',
      '.pyenv/versions/3.12/.pypirc',
      '.asdf/installs/node/20/etc/npmrc',
      '.asdf/one/two/held',
      'go/pkg/mod/private/main.go',
      'kit/lib/deep/er/.Env',
    ];
    for (const path of secrets) await fixture.file(path, 'secret\n');
    await fixture.link('.cargo/credentials.toml', 'store/token');
    await fixture.link('.asdf/credentials', 'one/two/held');
    const { home } = fixture;
    const runtime = await fixture.sandbox(
      '.cargo/bin',
      '.nvm/versions/node/v20/bin',
      '.pyenv/bin',
      '.asdf/bin',
      'go/bin',
      'kit/bin',
    );
    // Logins while the session runs.
    for (const path of ['.cargo/credentials.toml', '.asdf/.npmrc', 'kit/lib/auth.json', 'go/bin/.netrc'])
      await rm(join(home, path), { force: true }).then(async () => await fixture.file(path, 'secret\n'));
    expect(await said(runtime, 'cargo; node; pyenv; asdf; gopls; kit')).toBe(
      'cargo\nnpm \nnode\n3.12\ncode\ngopls\nkit\n',
    );
    expect(await said(runtime, `grep -rl secret ${home}; ls -A ${home}/.cargo ${home}/.nvm/versions/node/v20`)).toBe(
      `${home}/.cargo:\nbin\n\n${home}/.nvm/versions/node/v20:\nbin\ninclude\nlib\n`,
    );
  });

  it('are told what dpkg has installed, where that is how the machine has its programs', async () => {
    if (!existsSync('/var/lib/dpkg/status')) return;
    await using fixture = await ToolsFixture.open();
    const runtime = await fixture.sandbox();
    expect(await said(runtime, "dpkg-query -W -f '${Status}' bubblewrap; : >>/var/lib/dpkg/status")).toMatch(
      /^install ok installed.*Read-only file system/,
    );
  });

  it('find the tool chains of rustup', async () => {
    await using fixture = await ToolsFixture.open();
    await fixture.program('.cargo/bin/cargo', 'cat "$RUSTUP_HOME/settings.toml"');
    await fixture.file('.rustup/settings.toml', 'default_toolchain = "stable"\n');
    const runtime = await fixture.sandbox('.cargo/bin');
    expect(await said(runtime, 'cargo')).toBe('default_toolchain = "stable"\n');
  });
});
