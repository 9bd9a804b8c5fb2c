import { type ControlName, isLitterboxError, type LimitName, type ProviderTraits } from '@litterbox/core/provider';
import { collectedTests } from './collected-tests.ts';
import { describeSandboxProvider } from './describe-sandbox-provider.ts';
import { type Lacking, type SandboxProviderOptions, suite } from './sandbox-provider/suite.ts';

/** What the kit found out about a provider: how its tests went, and what a sandbox of it has and can do. */
export interface ProviderMeasure {
  readonly name: string;
  readonly isolation: ProviderTraits['isolation'];
  readonly roots: ProviderTraits['roots'];
  /** Ceilings that the traits name and the machine does not lack; whether they hold is among the tests. */
  readonly limits: readonly LimitName[];
  /** Controls as a sandbox reads them back. */
  readonly controls: Readonly<Partial<Record<ControlName, 'enforced' | 'weak' | 'absent'>>>;
  readonly can: {
    /** Gives a real terminal. */
    readonly terminal: boolean;
    /** Connects to programs inside: the base of ports. */
    readonly connect: boolean;
    /** Keeps what a setup left. */
    readonly setups: boolean;
    /** Keeps what was installed into an image. */
    readonly images: boolean;
    readonly snapshots: boolean;
  };
  /** Tests by group. A test of something that the provider does not offer checks that it says so. */
  readonly tests: Readonly<Record<string, { readonly passed: number; readonly failed: readonly string[] }>>;
}

/** The name in `lacking` under which a machine says that it cannot have a limit. */
const LACKED: Readonly<Partial<Record<LimitName, Lacking>>> = { diskBytes: 'disk', diskBytesPerSecond: 'disk-speed' };

/**
 * Runs every test of {@link describeSandboxProvider}, one after the other, and looks at one sandbox. Takes minutes.
 *
 * @param onFailure told of each test that failed, with what it threw
 */
export async function measureProvider(
  options: Omit<SandboxProviderOptions, 'runner'>,
  onFailure: (group: string, title: string, error: unknown) => void = () => {},
): Promise<ProviderMeasure> {
  const tests = collectedTests((runner) => describeSandboxProvider({ ...options, runner }));
  const results: Record<string, { passed: number; failed: string[] }> = {};
  for (const { group, title, failure } of tests) {
    const result = (results[group] ??= { passed: 0, failed: [] });
    const error = await failure(options.timeoutMs);
    if (error === undefined) result.passed += 1;
    else {
      result.failed.push(title);
      onFailure(group, title, error);
    }
  }
  return { name: options.name, ...(await lookedAt(options)), tests: results };
}

/** Looks at a sandbox that is made and removed as those of the tests are. */
async function lookedAt(
  options: Omit<SandboxProviderOptions, 'runner'>,
): Promise<Omit<ProviderMeasure, 'name' | 'tests'>> {
  let found: Omit<ProviderMeasure, 'name' | 'tests'> | undefined;
  const tests = collectedTests((runner) =>
    suite({ ...options, runner }, 'capabilities', (check) =>
      check('one sandbox', async ({ provider, create, lacking }) => {
        const runtime = await create();
        const { isolation, roots } = provider.traits;
        const limits = provider.traits.limits.filter((name) => {
          const lacked = LACKED[name];
          return lacked === undefined || !lacking.includes(lacked);
        });
        const { controls } = await runtime.assurance();
        const terminal = await runtime
          .spawn({ argv: ['true'], terminal: { columns: 80, rows: 24 } })
          .catch((error: unknown) => {
            if (!isLitterboxError(error, 'UNSUPPORTED')) throw error;
          });
        await terminal?.[Symbol.asyncDispose]();
        found = {
          isolation,
          roots,
          limits,
          controls: Object.fromEntries(controls.map(({ name, status }) => [name, status])),
          can: {
            terminal: terminal !== undefined,
            connect: runtime.connect !== undefined,
            setups: provider.setups !== undefined,
            images: provider.images !== undefined,
            snapshots: provider.snapshots !== undefined,
          },
        };
      }),
    ),
  );
  for (const { failure } of tests) {
    const failed = await failure(options.timeoutMs);
    if (failed) throw failed;
  }
  if (!found) throw new Error('There was no sandbox to look at.');
  return found;
}
