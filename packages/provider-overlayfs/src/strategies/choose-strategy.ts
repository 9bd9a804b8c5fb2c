import {
  type Host,
  LitterboxError,
  type ProbeCheck,
  type ProviderKey,
  type SandboxSpec,
} from '@litterbox/core/provider';
import { ensureDirectories, runScript, scriptError } from '@litterbox/linux-sandbox';
import type { Machine } from '../machine/machine.ts';
import { btrfs } from './btrfs.ts';
import { copy, reflink } from './copy.ts';
import { overlay } from './overlay.ts';
import type { Strategy } from './strategy.ts';
import { zfs } from './zfs.ts';

/**
 * The best first. Overlay, Btrfs and ZFS cost nothing for the size of a repository. An overlay has its changes in a layer of their own, so that nobody
 * looks for them among everything else.
 */
const STRATEGIES: readonly Strategy[] = [overlay, btrfs, zfs, reflink, copy];

const namesOf = (strategies: readonly Strategy[]) => strategies.map(({ name }) => name).join(', ');

export const STRATEGY_NAMES = STRATEGIES.map(({ name }) => name);

/** Those with which a workspace can stand on a directory of the person's. */
export const LIVE_STRATEGY_NAMES = STRATEGIES.filter(({ canStandOnLive }) => canStandOnLive).map(({ name }) => name);

/** Kinds of base trees that may be in one state directory. */
export const TREE_KINDS = STRATEGIES.flatMap(({ baseKind }) => baseKind ?? []);

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
    hint: `It knows ${namesOf(STRATEGIES)}.`,
  });
}

/** The name of the strategy that a sandbox asks for; undefined where that is left to the machine. */
export function askedStrategy({ strategy, live }: Pick<SandboxSpec, 'strategy' | 'live'>): string | undefined {
  return strategy ?? (live && LIVE_STRATEGY_NAMES[0]);
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
  const candidates = wanted === undefined ? STRATEGIES : [strategyNamed(wanted, provider)];
  for (const [index, strategy] of candidates.entries()) {
    const { code, stdout, stderr } = await runScript(host, make + strategy.probe(directory, isRoot));
    if (code === NO_DIRECTORY) throw scriptError('provider.create', code, stderr);
    if (code === 0) {
      checks.push({
        name: `copy-on-write (${strategy.name})`,
        status: 'ok',
        finding: [
          `${strategy.name} works below ${directory}`,
          ...(stdout.trim() === '' ? [] : [stdout.trim()]),
          ...(index + 1 < candidates.length ? [`not tried: ${namesOf(candidates.slice(index + 1))}`] : []),
        ].join('; '),
      });
      return { strategy, checks };
    }
    checks.push({
      name: `copy-on-write (${strategy.name})`,
      status: wanted ? 'failed' : 'warning',
      finding: (stdout || stderr).trim() || `exit code ${code}`,
      remedy: strategy.remedy,
    });
  }
  return { strategy: undefined, checks };
}
