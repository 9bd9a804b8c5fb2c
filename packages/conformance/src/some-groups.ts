import type { TestRunner } from './runner.ts';

/** Groups of the tests of `SandboxProvider`, by the words before the name of what is tested. */
export type KitGroup =
  | 'lifecycle'
  | 'traits'
  | 'sharing'
  | 'processes'
  | 'streaming'
  | 'changes'
  | 'hostile trees'
  | 'run states'
  | 'isolation'
  | 'limits'
  | 'setups'
  | 'images'
  | 'artefacts'
  | 'copies'
  | 'snapshots'
  | 'exec channel'
  | 'connections'
  | 'listening'
  | 'services';

/**
 * A runner that leaves out all groups but these: for one more run of a provider that passes the whole kit elsewhere, over another image or
 * another way of copying. A provider's own run has no use for it.
 */
export function someGroups(runner: TestRunner, groups: readonly KitGroup[]): TestRunner {
  const isChosen = (name: string) => groups.some((group) => name.startsWith(`SandboxProvider contract, ${group}:`));
  return {
    ...runner,
    describe: (name: string, body: () => void) => {
      if (isChosen(name)) runner.describe(name, body);
    },
  };
}
