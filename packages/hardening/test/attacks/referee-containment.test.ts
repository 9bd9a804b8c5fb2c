// An outside referee: what a stranger's checks find in a sandbox, with their weights.
import { describe, expect } from '@jest/globals';
import { CONTAINMENT_PROBE, containmentScore, inPlainBubblewrap, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';

const quoted = (program: string) => `perl -e '${program.replaceAll("'", String.raw`'\''`)}'`;

describe('an outside referee', () => {
  attack('agentsec-pack: what its checks find in a sandbox scores 8 of 100', async (fixture) => {
    const plain = inPlainBubblewrap(quoted(CONTAINMENT_PROBE), ['--unshare-net']);
    positiveControl(
      'bubblewrap with the whole machine in it',
      containmentScore(plain.stdout),
      ({ score }) => score > 40,
    );
    const sandbox = await fixture.open().create({ name: 'a' });
    const { stdout, stderr, exitCode } = await fixture.run(sandbox, ['perl', '-e', CONTAINMENT_PROBE]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    // Home and playground are directories of the disk: what is kept there outlives the session.
    expect(containmentScore(stdout)).toEqual({ found: ['FS-003'], score: 8 });
  });
});
