import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { RemoteFixture, SshServer } from '@litterbox/testing';
import { remoteLitterbox } from './remote-litterbox.ts';

const DIGEST = `printf %s "$NPM_TOKEN" | sha256sum | cut -c1-64`;

class ExposedFixture extends RemoteFixture {
  readonly value = `npm_${randomBytes(18).toString('hex')}`;

  private constructor(server: SshServer) {
    super(server, { files: { a: 'a\n' } });
    this.use(server);
    writeFileSync(join(this.directory, 'token'), this.value, { mode: 0o600 });
    this.file('.litterbox.toml', `secrets.TOKEN = { file = "${this.directory}/token", expose = "NPM_TOKEN" }\n`);
  }

  static async open(): Promise<ExposedFixture> {
    return new ExposedFixture(await SshServer.startApart());
  }

  get digest(): string {
    const env = { ...process.env, NPM_TOKEN: this.value };
    return execFileSync('sh', ['-c', DIGEST], { env, encoding: 'utf8' }).trim();
  }

  /** Programs of both sides, which are on this machine, with the value among their arguments; and files of the far side. */
  places(): readonly string[] {
    const found = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`).includes(this.value);
        } catch {
          return false; // ended meanwhile
        }
      });
    const look = 'grep -rlaF -e "$1" "$2" 2>/dev/null || true';
    return [...found, ...execFileSync('sh', ['-c', look, 'sh', this.value, this.there]).toString().split('\n')].filter(
      Boolean,
    );
  }
}

it('AX184: over SSH a secret that a program holds is in no argument and no file of either machine', async () => {
  await using fixture = await ExposedFixture.open();
  const litterbox = await remoteLitterbox(fixture);
  await litterbox.trust((await litterbox.trustStatus()).contentHash);
  await using sandbox = await litterbox.create({ name: 'a' });
  const seen: string[] = [];
  const onOutput = () => void seen.push(...fixture.places());
  const { stdout } = await sandbox.run(`${DIGEST}; echo "$NPM_TOKEN"`, { onOutput });
  expect(stdout).toBe(`${fixture.digest}\n[secret TOKEN]\n`);
  for (const input of [{}, { terminal: { columns: 80, rows: 24 } }]) {
    await using attached = await sandbox.attach({ command: `${DIGEST}; read -r line; echo "$NPM_TOKEN"`, ...input });
    seen.push(...fixture.places());
    await attached.process.write(Buffer.from('word\n'));
    let all = '';
    for await (const { bytes } of attached.process) all += Buffer.from(bytes).toString();
    expect(all).toContain(fixture.digest);
    expect(all).toContain('[secret TOKEN]');
    expect(all).not.toContain(fixture.value);
    await attached.finish(await attached.process.exit);
  }
  expect(seen).toEqual([]);
});
