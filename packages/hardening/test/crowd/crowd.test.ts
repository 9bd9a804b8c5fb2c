import { expect, it } from '@jest/globals';
import { runCrowd } from '@litterbox/hardening';

it.each(['overlayfs', 'docker'] as const)(
  'servers for agents and command lines on one repository at once: nothing acknowledged is lost, nothing is left behind, on %s',
  async (provider) => {
    const { problems, calls, commands, acknowledged } = await runCrowd({
      servers: 5,
      commandLines: 2,
      durationMs: 15_000,
      provider,
    });
    expect(problems).toEqual([]);
    expect(Math.min(calls, commands, acknowledged)).toBeGreaterThan(5);
  },
);
