import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { AttachedProcess, Litterbox } from '../src/index.ts';
import { LibraryFixture } from './library-fixture.ts';
import { PROVIDER } from './provider.ts';

/** Its digest tells that a program holds it, which prints nothing of it. */
const DIGEST = `printf %s "$NPM_TOKEN" | sha256sum | cut -c1-64`;

class ExposedFixture extends LibraryFixture {
  readonly value = `npm_${randomBytes(18).toString('hex')}`;

  constructor() {
    super({ '.litterbox.toml': '' });
    writeFileSync(join(this.directory, 'token'), this.value, { mode: 0o600 });
    this.file('.litterbox.toml', `[secrets]\nTOKEN = { file = "${this.directory}/token", expose = "NPM_TOKEN" }\n`);
  }

  get digest(): string {
    return execFileSync('sh', ['-c', DIGEST], {
      env: { ...process.env, NPM_TOKEN: this.value },
      encoding: 'utf8',
    }).trim();
  }

  async trusted(): Promise<Litterbox> {
    const litterbox = this.open();
    await litterbox.trust((await litterbox.trustStatus()).contentHash);
    return litterbox;
  }

  /** Where on this machine the value is: arguments of programs, what the engine tells of containers, and the state. */
  places(): readonly string[] {
    const found: string[] = [];
    const look = (where: string, bytes: Buffer | string) => {
      if (bytes.includes(this.value)) found.push(where);
    };
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const path = `/proc/${pid}/cmdline`;
      if (existsSync(path)) look(`arguments of ${pid}`, readIfThere(path));
    }
    if (PROVIDER === 'docker' || PROVIDER === 'podman') {
      const at = PROVIDER === 'podman' ? ['--url', `${process.env['CONTAINER_HOST']}`] : [];
      const engine = (...args: readonly string[]) => execFileSync(PROVIDER, [...at, ...args], { encoding: 'utf8' });
      for (const id of engine('ps', '-aq').split('\n').filter(Boolean)) look('the engine', engine('inspect', id));
    }
    const holding = execFileSync('sh', [
      '-c',
      'grep -rlaF -e "$1" "$2" "$3" 2>/dev/null || true',
      'sh',
      this.value,
      this.stateDirectory,
      this.repository,
    ]);
    look('files', holding.length > 0 ? this.value : '');
    return found;
  }

  /** All objects of all repositories below the state. */
  objects(): string {
    const list =
      'find "$1" -name objects -type d | while read -r d; do git --git-dir="${d%/objects}" cat-file --batch --batch-all-objects 2>/dev/null; done';
    return execFileSync('sh', ['-c', list, 'sh', this.stateDirectory], { maxBuffer: 2 ** 28 }).toString('latin1');
  }
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0); // ended meanwhile
  }
}

async function said({ process }: AttachedProcess): Promise<string> {
  let all = '';
  for await (const { bytes } of process) all += Buffer.from(bytes).toString();
  return all;
}

it('AX184: a secret that a program holds is in no argument, no state and nothing that the engine tells', async () => {
  await using fixture = new ExposedFixture();
  const sandbox = await (await fixture.trusted()).create({ name: 'a' });
  const control = spawn('cat', { argv0: fixture.value, stdio: ['pipe', 'ignore', 'ignore'] });
  await once(control, 'spawn');
  expect(fixture.places()).toEqual([`arguments of ${control.pid}`]);
  control.stdin.end();
  await once(control, 'exit');
  const seen: string[] = [];
  const { stdout } = await sandbox.run(`${DIGEST}; echo end`, {
    onOutput: () => void seen.push(...fixture.places()),
  });
  expect(stdout).toBe(`${fixture.digest}\nend\n`);
  for (const input of [{}, { terminal: { columns: 80, rows: 24 } }]) {
    await using attached = await sandbox.attach({ command: `${DIGEST}; read -r line; echo "got $line"`, ...input });
    seen.push(...fixture.places());
    await attached.process.write(Buffer.from('word\n'));
    const all = await said(attached);
    expect(all).toContain(fixture.digest);
    expect(all).toContain('got word');
    await attached.finish(await attached.process.exit);
  }
  seen.push(...fixture.places());
  expect(seen).toEqual([]);
  expect((await sandbox.run('ls -a /tmp')).stdout).not.toContain('.litterbox-');
  expect(JSON.stringify([await (await fixture.trusted()).audit(), await sandbox.log()])).not.toContain(fixture.value);
});

it('AX185: what holds it prints it, in pieces and in a terminal, and nobody reads it', async () => {
  await using fixture = new ExposedFixture();
  const sandbox = await (await fixture.trusted()).create({ name: 'a' });
  const pieces = 'printf npm; sh -c :; printf %s "${NPM_TOKEN#npm}"; echo; echo "$NPM_TOKEN" >&2';
  const { stdout, stderr } = await sandbox.run(pieces);
  expect({ stdout, stderr }).toEqual({ stdout: '[secret TOKEN]\n', stderr: '[secret TOKEN]\n' });
  for (const input of [{}, { noInput: true }, { terminal: { columns: 80, rows: 24 } }]) {
    await using attached = await sandbox.attach({ command: pieces, ...input });
    const all = await said(attached);
    expect(all.replaceAll(/[\r\n]/g, '')).toBe('[secret TOKEN][secret TOKEN]'); // of two streams, in any order
    await attached.finish(await attached.process.exit);
  }
});

it('AX186: no object of the record has it, whatever the file', async () => {
  await using fixture = new ExposedFixture();
  const sandbox = await (await fixture.trusted()).create({ name: 'a' });
  const { recorded } = await sandbox.run(`echo "t=$NPM_TOKEN" >.env; mkdir sub; echo "# $NPM_TOKEN" >sub/.gitignore
ln -s "$NPM_TOKEN" link; echo x >"is-$NPM_TOKEN"; echo fine >fine
{ head -c 6000000 /dev/zero | tr '\\0' x; printf %s "$NPM_TOKEN"; head -c 100000 /dev/zero; } >large`);
  expect(recorded.warnings.map((warning) => [warning.type, warning.path]).toSorted()).toEqual(
    [
      ['holds-secret', '.env'],
      ['holds-secret', 'is-[secret TOKEN]'],
      ['holds-secret', 'large'],
      ['holds-secret', 'link'],
      ['holds-secret', 'sub/.gitignore'],
    ].toSorted(),
  );
  expect((await sandbox.changes()).map(({ path }) => path)).toEqual(['fine']);
  const objects = fixture.objects();
  expect(objects).toContain('fine\n');
  expect(objects).not.toContain(fixture.value);
  expect(Buffer.from(await sandbox.files.read('.env')).toString()).toBe('t=[secret TOKEN]\n');
  await expect(sandbox.delete()).rejects.toMatchObject({ code: expect.any(String) });
  // Taken out of the file, its other bytes are recorded.
  const mended = await sandbox.run("sed -i 's/=.*/=none/' .env");
  expect(mended.recorded.warnings).toEqual([]);
  expect((await sandbox.changes()).map(({ path }) => path)).toEqual(['.env', 'fine']);
});
