import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { detected, ECOSYSTEMS, quoted } from '@litterbox/core';
import { wantedTrust } from '../src/init/wanted-trust.ts';
import { CliFixture, NODE, PROVIDER } from './cli-fixture.ts';

const CONFIG = '.litterbox.toml';

/** With every suggestion switched on: lines `#key = …`, not lines `# words`. */
const uncommented = (text: string): string => text.replace(/^#(?=[a-z])/gm, '');

/** What `init` says on a terminal to a person who presses one key when asked. */
async function answeredInit(fixture: CliFixture, answer: string): Promise<string> {
  const child = fixture.startInTerminal(['init']);
  let said = '';
  let isAnswered = false;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (isAnswered || !said.includes('Switch it on?')) return;
    isAnswered = true;
    child.stdin?.write(answer);
  });
  await once(child, 'close');
  return said;
}

describe('litterbox init', () => {
  it('writes a file that says nothing yet, and nothing else', async () => {
    await using fixture = new CliFixture();
    const before = readdirSync(fixture.repository);
    const made = await fixture.run(['init']);
    expect({ code: made.code, stdout: made.stdout }).toEqual({ code: 0, stdout: '' });
    expect(made.stderr).toMatch(
      /Wrote \.litterbox\.toml\..*\nNext:\n.*litterbox trust.*\n.*litterbox agent install claude/,
    );
    expect(readdirSync(fixture.repository).sort()).toEqual([...before, CONFIG].sort());
    expect(fixture.git('status', '--porcelain')).toBe(`?? ${CONFIG}`);
    const shown = await fixture.run(['trust', '--show']);
    expect({ code: shown.code, stdout: shown.stdout, stderr: shown.stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('nothing that needs trust'),
    });
    const again = await fixture.run(['init']);
    expect({ code: again.code, stderr: again.stderr }).toEqual({
      code: 0,
      stderr: `${CONFIG} is up to date: there is nothing to write.\n`,
    });
    const created = await fixture.run(['create', 'works']);
    expect({ code: created.code, stderrIncludes: created.stderr.includes('warning') }).toEqual({
      code: 0,
      stderrIncludes: false,
    });
  });

  it('suggests what the project needs, in settings that the real reader takes', async () => {
    await using fixture = new CliFixture();
    const kinds = [
      [],
      ...ECOSYSTEMS.flatMap((kind) => kind.map(({ files }) => files)),
      ECOSYSTEMS.flatMap((kind) => kind[0]?.files ?? []),
    ];
    for (const files of kinds) {
      for (const file of files) writeFileSync(join(fixture.repository, file), '');
      const { stdout: text } = await fixture.run(['init', '--print']);
      expect(existsSync(join(fixture.repository, CONFIG))).toBe(false);
      const found = detected((name) => files.includes(name));
      for (const { setup } of found) expect(text).toContain(JSON.stringify(setup).replaceAll('","', '", "'));
      expect({ files, text: text.split('\n').filter((line) => line.startsWith('# ') && line.length > 120) }).toEqual({
        files,
        text: [],
      });
      writeFileSync(join(fixture.repository, CONFIG), uncommented(text));
      const read = await fixture.run(['trust', '--show']);
      expect({ files, code: read.code, stderr: read.stderr }).toEqual({
        files,
        code: 0,
        stderr: 'You have not agreed to this.\n',
      }); // no warning: every key is known
      expect(read.stdout).toContain('container.setup-command = ');
      if (found.length > 0) for (const line of wantedTrust(found)) expect(read.stdout.split('\n')).toContain(line);
      expect(read.stdout).toContain('network.allow = ');
      for (const file of [...files, CONFIG]) rmSync(join(fixture.repository, file), { force: true });
    }
  });

  it('switches setup and network on together when a person at a terminal says yes, and trusts just that', async () => {
    await using fixture = new CliFixture();
    writeFileSync(join(fixture.repository, 'package.json'), '{}');
    writeFileSync(join(fixture.repository, 'package-lock.json'), '{}');
    const told = (answer: string) => answeredInit(fixture, answer);
    expect(await told('n')).toContain('every setting in it is a comment');
    rmSync(join(fixture.repository, CONFIG));
    const yes = await told('y');
    expect(yes).toContain('container.setup-command = [["npm","ci"]]');
    expect(yes).toContain('you agreed to it');
    const shown = await fixture.run(['trust', '--show']);
    expect({ stdout: shown.stdout, stderr: shown.stderr }).toEqual({
      stdout: `${wantedTrust(detected((name) => name.startsWith('package'))).join('\n')}\n`,
      stderr: 'You have agreed to this.\n',
    });
  });

  it('create names the line that prepares a sandbox, which works as it stands', async () => {
    await using fixture = new CliFixture();
    writeFileSync(join(fixture.repository, 'package.json'), '{"name":"x","version":"1.0.0"}');
    const lock = { name: 'x', version: '1.0.0', lockfileVersion: 3, packages: { '': { name: 'x', version: '1.0.0' } } };
    writeFileSync(join(fixture.repository, 'package-lock.json'), JSON.stringify(lock));
    fixture.git('add', '.');
    fixture.git('commit', '-qm', 'a project');
    const made = await fixture.run(['create', 'It is', '--env', "A=don't"]);
    expect({ code: made.code, stdout: made.stdout }).toEqual({ code: 0, stdout: 'it-is\n' });
    const line = made.stderr.split('\n').find((one) => one.startsWith('  litterbox delete '));
    expect(line).toContain("create 'It is' --env 'A=don'\\''t' --setup 'npm ci' --network setup");
    expect((await fixture.run(['--quiet', 'create', 'quiet'])).stderr).toBe('');
    if (PROVIDER !== 'overlayfs') return; // the image that is named has to come from outside
    const pasted = spawnSync('sh', ['-c', `litterbox() { ${NODE.map(quoted).join(' ')} "$@"; }; ${line}`], {
      cwd: fixture.repository,
      env: fixture.environment,
      encoding: 'utf8',
    });
    expect({ code: pasted.status, stdout: pasted.stdout }).toEqual({ code: 0, stdout: 'it-is\n' });
    expect(pasted.stderr).not.toContain('No setup command ran');
    expect((await fixture.run(['run', 'it-is', 'cat node_modules/.package-lock.json; echo $A'])).stdout).toContain(
      "don't",
    );
  });

  it('replaces a file only with --force, shows the difference, and keeps copies', async () => {
    await using fixture = new CliFixture();
    const path = join(fixture.repository, CONFIG);
    writeFileSync(path, 'source = "worktree"\n');
    const refused = await fixture.run(['init']);
    expect({ code: refused.code, stderr: refused.stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('--force replaces the file'),
    });
    const unasked = await fixture.run(['init', '--force']);
    expect({ code: unasked.code, stdout: unasked.stdout }).toEqual({
      code: 2,
      stdout: expect.stringContaining('-source = "worktree"'),
    });
    expect(readFileSync(path, 'utf8')).toBe('source = "worktree"\n');
    const done = await fixture.run(['init', '--force', '--yes', '--json']);
    expect({ code: done.code, stdout: JSON.parse(done.stdout) }).toEqual({
      code: 0,
      stdout: { path, written: true, backup: `${path}.bak`, text: readFileSync(path, 'utf8') },
    });
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe('source = "worktree"\n');
    writeFileSync(path, 'worktrees = "eager"\n');
    await fixture.run(['init', '--force', '--yes']);
    expect({
      firstContent: readFileSync(`${path}.bak`, 'utf8'),
      secondContent: readFileSync(`${path}.bak.1`, 'utf8'),
    }).toEqual({ firstContent: 'source = "worktree"\n', secondContent: 'worktrees = "eager"\n' });
  });

  it('works from a directory below, and tells where it cannot', async () => {
    await using fixture = new CliFixture();
    mkdirSync(join(fixture.repository, 'deep', 'er'), { recursive: true });
    expect((await fixture.run(['-C', join(fixture.repository, 'deep', 'er'), 'init'])).code).toBe(0);
    expect(existsSync(join(fixture.repository, CONFIG))).toBe(true);
    const outside = await fixture.run(['-C', '/', 'init']);
    expect({ code: outside.code, stderr: outside.stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('git init'),
    });
    rmSync(join(fixture.repository, CONFIG));
    symlinkSync('/etc/passwd', join(fixture.repository, CONFIG));
    const link = await fixture.run(['init', '--force', '--yes']);
    expect({ code: link.code, stderr: link.stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('not a regular file'),
    });
    const help = await fixture.run(['init', '--help']);
    expect({ code: help.code, stdout: help.stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('$ litterbox init --print'),
    });
  });
});
