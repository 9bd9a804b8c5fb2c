// An outside referee: what a stranger's checks find in a sandbox, with their weights.
import { describe, expect } from '@jest/globals';
import { CONTAINMENT_PROBE, containmentScore, inPlainBubblewrap, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';

const quoted = (program: string) => `perl -e '${program.replaceAll("'", String.raw`'\''`)}'`;

describe('an outside referee', () => {
  attack(
    'agentsec-pack: what its checks find in a sandbox are a setting of npm and directories of its own',
    async (fixture) => {
      const plain = inPlainBubblewrap(quoted(CONTAINMENT_PROBE), ['--unshare-net']);
      positiveControl(
        'bubblewrap with the whole machine in it',
        containmentScore(plain.stdout),
        ({ score }) => score > 40,
      );
      const sandbox = await fixture.open().create({ name: 'a' });
      const probe = async (...before: readonly string[]) => {
        const { stdout, stderr, exitCode } = await fixture.run(sandbox, [
          'env',
          ...before,
          'perl',
          '-e',
          CONTAINMENT_PROBE,
        ]);
        expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
        return containmentScore(stdout);
      };
      // Every variable whose name begins with npm_ counts as a secret there: that is our setting for npm without a network.
      expect(await probe()).toEqual({ found: ['SEC-002', 'FS-003'], score: 23 });
      // Home and playground are directories of the disk: what is kept there outlives the session.
      expect(await probe('-u', 'npm_config_fetch_retries')).toEqual({ found: ['FS-003'], score: 8 });
    },
  );
});
