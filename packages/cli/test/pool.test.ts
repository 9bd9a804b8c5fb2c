import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { CliFixture, PROVIDER } from './cli-fixture.ts';

interface Shown {
  readonly made: number;
  readonly removed: number;
  readonly sandboxes: readonly { readonly id: string; readonly state: string }[];
}

it('fills the pool, takes out of it, and has it filled again by a program of its own', async () => {
  await using fixture = new CliFixture();
  writeFileSync(join(fixture.repository, '.litterbox.toml'), 'pool = 1\n');
  await fixture.run(['trust', '--yes']);
  const pool = async (...flags: readonly string[]) =>
    JSON.parse((await fixture.run(['pool', '--json', ...flags])).stdout) as Shown;
  expect(await fixture.run(['pool'])).toMatchObject({ code: 0, stdout: '', stderr: 'No prepared sandboxes.\n' });
  const filled = await fixture.run(['pool', '--fill']);
  expect(filled.code).toBe(0);
  expect(filled.stdout).toMatch(new RegExp(`^[0-9a-f-]{36}\tready\t${PROVIDER}\tjust now\n$`));
  expect(filled.stderr).toContain('Prepared 1, removed 0.\n');
  const [{ id } = { id: '' }] = (await pool()).sandboxes;
  const created = await fixture.run(['create', 'taken']);
  expect({ code: created.code, stdout: created.stdout }).toEqual({ code: 0, stdout: 'taken\n' });
  expect(created.stderr).toContain(`Taking a prepared sandbox (${PROVIDER})\n`);
  expect((await fixture.run(['run', 'taken', 'echo $LITTERBOX_SANDBOX'])).stdout).toBe('taken\n');
  const listed = JSON.parse((await fixture.run(['list', '--json'])).stdout) as readonly { readonly id: string }[];
  expect(listed.map((one) => one.id)).toEqual([id]);
  const { sandboxes } = await eventually(pool, (seen) => seen.sandboxes[0]?.state === 'ready');
  expect(sandboxes).toHaveLength(1);
  expect(await pool('--clear')).toMatchObject({ removed: 1, sandboxes: [] });
});
