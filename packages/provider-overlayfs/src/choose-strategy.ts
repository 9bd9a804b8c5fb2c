import { type Host, LitterboxError, type ProbeCheck, type ProviderKey } from '@litterbox/core/provider';
import { ensureDirectories, runScript, scriptError } from '@litterbox/linux-sandbox';
import type { Machine } from './machine.ts';
import { copy, reflink } from './strategies/copy.ts';
import { overlay } from './strategies/overlay.ts';
import type { Strategy } from './strategies/strategy.ts';

/** Cheapest first. */
const STRATEGIES: readonly Strategy[] = [overlay, reflink, copy];

export const STRATEGY_NAMES = STRATEGIES.map(({ name }) => name);

export interface StrategyChoice {
  readonly strategy: Strategy | undefined;
  /** What every strategy that was tried said, in order. */
  readonly checks: readonly ProbeCheck[];
}

export function strategyNamed(name: string, provider: ProviderKey): Strategy {
  const found = STRATEGIES.find((strategy) => strategy.name === name);
  if (found) return found;
  throw new LitterboxError('UNSUPPORTED', `This version knows no strategy ${name}.`, {
    operation: 'provider.create',
    provider,
    hint: `It knows ${STRATEGIES.map((strategy) => strategy.name).join(', ')}.`,
  });
}

/** Exit code of a probe without a directory to try in. */
const NO_DIRECTORY = 86;

/** The first strategy that works below the directory, which is made, and why the ones before do not. */
export async function choosing(
  host: Host,
  directory: string,
  { isRoot, provider }: Pick<Machine, 'isRoot' | 'provider'>,
  wanted: Strategy['name'] | undefined,
): Promise<StrategyChoice> {
  const checks: ProbeCheck[] = [];
  const make = `${ensureDirectories([directory])} || exit ${NO_DIRECTORY}\n`;
  for (const strategy of wanted === undefined ? STRATEGIES : [strategyNamed(wanted, provider)]) {
    const { code, stdout, stderr } = await runScript(host, make + strategy.probe(directory, isRoot));
    if (code === NO_DIRECTORY) throw scriptError('provider.create', code, stderr);
    if (code === 0) {
      checks.push({
        name: `copy-on-write (${strategy.name})`,
        status: 'ok',
        finding: `${strategy.name} works below ${directory}`,
      });
      return { strategy, checks };
    }
    checks.push({
      name: `copy-on-write (${strategy.name})`,
      status: wanted ? 'failed' : 'warning',
      finding: (stdout || stderr).trim() || `exit code ${code}`,
      remedy: 'Keep the state directory (LITTERBOX_HOME) on ext4, XFS or Btrfs.',
    });
  }
  return { strategy: undefined, checks };
}
