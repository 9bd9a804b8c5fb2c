import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { LibraryFixture } from './library-fixture.ts';
import { PROVIDER } from './provider.ts';

describe(`field cases, on ${PROVIDER}`, () => {
  it.each(['027', '077'])('FC-32: whoever makes it, with the umask %s, its files have the same modes', async (mask) => {
    const places =
      '/ /* . new dir dir/a made ~ ~/made "$LITTERBOX_PLAYGROUND" /etc /etc/* $(ls -d /etc/ssl/* 2>/dev/null)';
    const look = `id -un; cat /etc/passwd /etc/hosts /etc/hostname >/dev/null; umask; : >new; stat -L -c '%a %n' ${places} | grep -v /proc`;
    const seen = async (umask: number) => {
      await using fixture = new LibraryFixture({ 'dir/a': 'a\n' });
      const before = process.umask(umask);
      try {
        const sandbox = await fixture.open().create({ name: 'a', setup: ': >made; : >~/made' });
        const { note } = await sandbox.snapshot();
        const fork = await sandbox.fork({ name: 'b' });
        await sandbox.run('rm made');
        await sandbox.restoreSnapshot(note.label);
        return [await sandbox.run(look), await fork.run(look)].map(({ stdout, stderr }) => ({ stdout, stderr }));
      } finally {
        process.umask(before);
      }
    };
    const usual = await seen(0o022);
    expect(usual).toEqual([expect.objectContaining({ stderr: '' }), usual[0]]);
    expect(await seen(Number.parseInt(mask, 8))).toEqual(usual);
  });

  it('FC-62: names with backslashes are recorded by every way, restored, forked and merged', async () => {
    const names = 'a b f n r t v ? \\ 0 1 7 8 9'
      .split(' ')
      .flatMap((letter) => [`d\\${letter}`, `dist\\${letter}ew/in\\${letter}`]);
    const base = names.map((name) => `base/${name}`);
    await using fixture = new LibraryFixture(Object.fromEntries(base.map((name) => [name, 'base\n'])));
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a' });
    const all = [...base, ...names.map((name) => `new/${name}`)];
    const write = (content: string) =>
      ['sh', '-c', `for f do mkdir -p "\${f%/*}"; ${content} >>"$f"; done`, 'sh', ...all] as const;
    // By tar, by the program that stays, and by tar once more, in a stream.
    for (const content of ['echo one', 'echo two', 'seq 9999']) {
      const { recorded } = await sandbox.run(write(content));
      expect(recorded).toMatchObject({ changedFiles: all.length, warnings: [] });
    }
    const look = ['sh', '-c', 'for f do head -n 3 "$f"; done | sort | uniq -c', 'sh', ...all] as const;
    const seen = (await sandbox.run(look)).stdout;
    const fork = await sandbox.fork({ name: 'b' });
    expect((await fork.run(look)).stdout).toBe(seen);
    await fork.run(['rm', '-r', 'new', 'base']);
    await litterbox.restore('b', '3');
    expect((await fork.run(look)).stdout).toBe(seen);
    await litterbox.merge('a', { message: 'names' });
    const merged = fixture.git('-c', 'core.quotePath=false', 'ls-tree', '-r', '-z', '--name-only', 'HEAD');
    expect(
      merged
        .split('\0')
        .filter((path) => /^(base|new)\//.test(path))
        .sort(),
    ).toEqual(all.toSorted());
  });

  it('FC-41: what a setup installs into the home is found by commands, shells and services', async () => {
    await using fixture = new LibraryFixture({
      '.litterbox.toml': '[container.services.server]\ncommand = ["mytool"]\n',
    });
    const litterbox = fixture.open();
    await litterbox.trust((await litterbox.trustStatus()).contentHash);
    const install = `mkdir -p ~/.local/bin; printf '#!/bin/sh\\necho hello >>~/said; exec sleep 1000\\n' >~/.local/bin/mytool; chmod +x ~/.local/bin/mytool`;
    const sandbox = await litterbox.create({ name: 'a', setup: install });
    const look = 'command -v mytool';
    expect((await sandbox.run(look)).stdout).toBe('/home/agent/.local/bin/mytool\n');
    await using shell = await sandbox.attach({ command: look });
    let said = '';
    for await (const { bytes } of shell.process) said += new TextDecoder().decode(bytes);
    await shell.finish(await shell.process.exit);
    expect(said).toBe('/home/agent/.local/bin/mytool\n');
    expect((await sandbox.run('until grep hello ~/said 2>/dev/null; do sleep 0.1; done')).stdout).toBe('hello\n');
  });

  it('FC-45: with an open network, no program is sent to the proxy for what is inside', async () => {
    await using fixture = new LibraryFixture({ 'index.html': 'inside\n' });
    const sandbox = await fixture.open().create({ name: 'a', network: 'run', allow: ['registry.example.org'] });
    const has = async (program: string) => (await sandbox.run(['sh', '-c', `command -v ${program}`])).exitCode === 0;
    if (!(await has('curl')) || !(await has('python3'))) return; // of an image that has neither, no program can be asked
    expect((await sandbox.run('hostname')).stdout).toBe('sandbox\n');
    const near = ['127.0.0.1', '127.0.0.2', '0.0.0.0', 'sandbox', 'localhost', 'web.localhost'];
    const ask = `python3 -m http.server 8123 >/dev/null 2>&1 & until curl -s --noproxy '*' -o /dev/null http://127.0.0.1:8123/; do sleep 0.1; done
for h in ${near.join(' ')}; do echo "$h $(curl -s http://$h:8123/)"; done
python3 -c 'import urllib.request as r
for h in ["127.0.0.1", "0.0.0.0", "sandbox", "localhost"]: print(h, r.urlopen(f"http://{h}:8123/").read().decode().strip())'
curl -s -o /dev/null -w '%{http_code}\\n' http://registry.example.org/; kill $!`;
    const names = [...near, '127.0.0.1', '0.0.0.0', 'sandbox', 'localhost'];
    // Positive control: what is outside goes to the proxy, which takes no plain HTTP.
    expect((await sandbox.run(ask)).stdout).toBe(`${names.map((name) => `${name} inside\n`).join('')}405\n`);
  });

  it('FC-10: where a directory of the base cannot be renamed, the answer says what moves it, and that works', async () => {
    await using fixture = new LibraryFixture({ 'src/d/a': 'a\n', 'b.txt': 'b\n' });
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a' });
    if ((await sandbox.run('command -v perl')).exitCode !== 0) return; // whose own mv is all that renames
    const rename = `perl -e 'rename "src", "lib" or die "$!\\n"'`;
    expect(await sandbox.run(rename)).toMatchObject({
      stderr: 'Invalid cross-device link\n',
      hints: [expect.stringContaining('mv copies instead')],
    });
    expect((await sandbox.run('mv src lib')).exitCode).toBe(0);
    expect((await litterbox.changes('a')).map(({ path }) => path).sort()).toEqual(['lib/d/a', 'src/d/a']);
    if (PROVIDER !== 'overlayfs') return;
    fixture.file('.litterbox.toml', '[overlayfs]\nstrategy = "copy"\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'copy');
    const copy = await litterbox.create({ name: 'b' });
    expect((await copy.run(rename)).exitCode).toBe(0);
    expect((await litterbox.changes('b')).map(({ path }) => path).sort()).toEqual(['lib/d/a', 'src/d/a']);
  });

  it('FC-43: what an install made in each package comes along with the top one, and nothing else of that name', async () => {
    await using fixture = new LibraryFixture({
      '.gitignore': '/node_modules\n',
      'package.json': '{ "workspaces": ["packages/*"] }\n',
      'packages/a/package.json': '{}\n',
      'packages/b/package.json': '{}\n',
      'packages/b/node_modules/tracked/index.js': '\n',
      'tools/index.js': '\n',
    });
    for (const directory of ['', 'packages/a/', 'packages/b/', 'tools/'])
      fixture.file(`${directory}node_modules/own/index.js`, `module.exports = '${directory}'\n`);
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a', include: ['node_modules'] });
    const { stdout } = await sandbox.run(
      'find . -path "*/own/*" | LC_ALL=C sort; echo more >>packages/a/node_modules/own/index.js',
    );
    expect(stdout).toBe('./node_modules/own/index.js\n./packages/a/node_modules/own/index.js\n');
    expect(await litterbox.changes('a')).toEqual([]);
  });

  (PROVIDER === 'overlayfs' ? it : it.skip)(
    'FC-221: contents of Git LFS are unpacked once for all sandboxes of a commit',
    async () => {
      await using fixture = new LibraryFixture({ 'a.txt': 'a\n' });
      const { git, stateDirectory } = fixture;
      git('lfs', 'install', '--local');
      git('lfs', 'track', '*.bin');
      fixture.file('large.bin', 'large\n'.repeat(2000));
      git('add', '-A');
      git('commit', '-qm', 'large');
      const litterbox = fixture.open();
      for (const name of ['a', 'b']) {
        const sandbox = await litterbox.create({ name });
        expect((await sandbox.run('wc -c <large.bin')).stdout.trim()).toBe('12000');
      }
      const copies = readdirSync(stateDirectory, { recursive: true, encoding: 'utf8' });
      expect(copies.filter((path) => path.endsWith('/large.bin'))).toHaveLength(1);
    },
  );

  it('FC-292: what a command prints by way of a program that outlives its shell is part of its output', async () => {
    await using fixture = new LibraryFixture();
    const sandbox = await fixture.open().create({ name: 'a' });
    // As `exec > >(tee log)`, which bash alone has. The other program prints after the shell has ended.
    const command = 'mkfifo p; { read -r line; sleep 0.1; echo "$line"; } <p & exec >p; echo printed';
    const { exitCode, stdout } = await sandbox.run(command);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'printed\n' });
    // A server is not waited for, and is not heard by the next command.
    await sandbox.run('while :; do echo chatter; sleep 0.01; done & echo $! >pid');
    expect((await sandbox.run('sleep 0.1; echo next')).stdout).toBe('next\n');
    expect((await sandbox.run('kill "$(cat pid)"')).exitCode).toBe(0);
  });

  it('FC-380: an input of 48 MiB arrives whole', async () => {
    await using fixture = new LibraryFixture();
    const sandbox = await fixture.open().create({ name: 'a' });
    const part = new Uint8Array(2 ** 20).fill(0x61);
    const stdin = ReadableStream.from(Array.from({ length: 48 }, () => part));
    expect((await sandbox.run('wc -c', { stdin })).stdout.trim()).toBe(String(48 * 2 ** 20));
  });

  it('FC-384: links come out of an archive as links, those that lead nowhere and outside too', async () => {
    await using fixture = new LibraryFixture();
    const litterbox = fixture.open({ repo: false });
    await using sandbox = await litterbox.create({ ephemeral: true, files: { 'dir/file': 'x\n' } });
    await sandbox.run('ln -s gone broken; ln -s dir link; ln -s /etc/passwd out');
    const archive = Buffer.from(await new Response(await sandbox.files.archive()).arrayBuffer());
    const listed = execFileSync('tar', ['-tvf', '-'], { input: archive, encoding: 'utf8' });
    expect(listed.match(/\S+ -> \S+/g)).toEqual(['broken -> gone', 'link -> dir', 'out -> /etc/passwd']);
  });

  it('FC-387: the directories above given files are made, and hidden ones and names of any kind come along', async () => {
    await using fixture = new LibraryFixture();
    const files = { 'a/b/c/.hidden': '1', '-rf': '2', 'sp ace\n/ü': '3', '.github/workflows/x.yml': '4' };
    await using sandbox = await fixture.open({ repo: false }).create({ ephemeral: true, files });
    expect((await sandbox.files.download(Object.keys(files))).size).toBe(4);
    expect(await sandbox.changes()).toEqual([]);
  });

  it('FC-462: a file that is written again keeps its mode, whichever way writes it', async () => {
    await using fixture = new LibraryFixture({ 'a.txt': 'a\n' });
    const sandbox = await fixture.open().create({ name: 'a' });
    const modes = ['600', '640', '755', '664', '711'];
    await sandbox.run(modes.map((mode) => `echo old >m${mode}; chmod ${mode} m${mode}`).join('; '));
    // By the shell, by the program that stays, and as a stream.
    for (const content of ['first\n', 'second\n', 'x'.repeat(100_000)]) {
      for (const mode of modes) await sandbox.files.write(`m${mode}`, content);
      const { stdout } = await sandbox.run('stat -c %a m*; cat m600');
      expect(stdout).toBe(`${[...modes].sort().join('\n')}\n${content}`);
    }
  });

  it('FC-391: an agent that removes its working directory can go on', async () => {
    await using fixture = new LibraryFixture({ 'src/a.txt': 'a\n' });
    const sandbox = await fixture.open().create({ name: 'a' });
    await sandbox.run('rm -rf "$PWD"');
    const after = await sandbox.run('pwd; ls -A; echo again >made');
    expect({ stdout: after.stdout, exitCode: after.exitCode }).toEqual({
      stdout: `${sandbox.record.workdir}\n`,
      exitCode: 0,
    });
    expect((await sandbox.changes()).map(({ path, status }) => `${status} ${path}`)).toEqual([
      'added made',
      'deleted src/a.txt',
    ]);
    await sandbox.undo();
    await sandbox.undo();
    expect(await sandbox.files.readText('src/a.txt')).toBe('a\n');
  });
});
