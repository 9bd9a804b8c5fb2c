import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { assertTried, SEATS } from '../src/index.ts';
import { AgentsFixture } from './agents-fixture.ts';

const codex = SEATS.find(({ id }) => id === 'codex');
if (!codex) throw new Error('no seat');

/** A launcher that waits for what it starts, with something else beside that goes on. */
const BESIDE = '[ "$1" = --version ] || sleep 600 &\n';

describe('a program is tried before it is trusted', () => {
  it('once for each version, when its commands come to us', async () => {
    await using fixture = new AgentsFixture();
    const environment = { PATH: `${fixture.programs('remote')}:/usr/bin:/bin` };
    const trials: string[] = [];
    const tried = async () =>
      await assertTried(codex, environment, fixture.stateDirectory, (version) => trials.push(version));
    expect(await tried()).toMatchObject({ version: 'codex-cli 0.169.0' });
    await tried();
    expect(trials).toEqual(['codex-cli 0.169.0']);
  });

  it('FC-309: again when its launcher was edited, which may lead elsewhere now', async () => {
    await using fixture = new AgentsFixture();
    const programs = fixture.programs('remote');
    const tried = async () =>
      await assertTried(codex, { PATH: `${programs}:/usr/bin:/bin` }, fixture.stateDirectory, () => {});
    await tried();
    const launcher = join(programs, 'codex');
    writeFileSync(launcher, readFileSync(launcher, 'utf8').replace(' remote ', ' local '), { mode: 0o755 });
    await expect(tried()).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });

  it.each([
    ['local', /ran a command on this machine/],
    ['broken', /did not hand its command to Litterbox; it ended with: error: something is wrong/],
  ] as const)('one that is %s is refused, and nothing of it is left', async (mode, message) => {
    await using fixture = new AgentsFixture();
    const environment = { PATH: `${fixture.programs(mode)}:/usr/bin:/bin` };
    for (const _again of [1, 2])
      await expect(assertTried(codex, environment, fixture.stateDirectory, () => {})).rejects.toMatchObject({
        code: 'UNSUPPORTED',
        message: expect.stringMatching(message),
      });
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`litterbox-trial-${process.pid}-`))).toEqual([]);
  });

  it('FC-299: one behind a launcher ends with the trial', async () => {
    await using fixture = new AgentsFixture();
    const environment = { PATH: `${fixture.programs('remote', BESIDE)}:/usr/bin:/bin` };
    await assertTried(codex, environment, fixture.stateDirectory, () => {});
    const left = readdirSync('/proc').filter(
      (name) => /^\d+$/.test(name) && environmentOf(name).includes(`litterbox-trial-${process.pid}-`),
    );
    expect(left).toEqual([]);
  });

  it('one that is not there is told', async () => {
    await using fixture = new AgentsFixture();
    await expect(
      assertTried(codex, { PATH: fixture.directory }, fixture.stateDirectory, () => {}),
    ).rejects.toMatchObject({ code: 'TOOL_MISSING' });
  });
});

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return ''; // it has ended
  }
}
