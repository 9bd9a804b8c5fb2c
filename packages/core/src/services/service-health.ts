import type { ServicePolicy } from '../domain/sandbox/policy.ts';
import type { ServiceSetting, ServiceState } from './kept-service.ts';

/** A program that ends within this after its start has not started. */
export const SURVIVAL_MS = 300;
/** How long a health that was never good is waited for. */
const HEALTH_WINDOW_MS = 60_000;
const HEALTH_START_INTERVAL_MS = 100;
const HEALTH_INTERVAL_MS = 5_000;
const HEALTH_TIMEOUT_MS = 5_000;
const FAILURES_UNTIL_UNHEALTHY = 3;

/** Until it ended, or has run for long enough to be taken for started. */
export async function survival({ clock }: ServiceSetting, ended: AbortSignal): Promise<void> {
  await clock.sleep(SURVIVAL_MS, { signal: ended }).catch(() => {});
}

/**
 * Looks after the health of one run for as long as it lasts: `running` when it is up, `unhealthy` when it does not answer.
 *
 * @param over aborted when the run has ended, or is no longer to be looked at; nothing is told after that
 */
export async function watchHealth(
  policy: ServicePolicy,
  setting: ServiceSetting,
  over: AbortSignal,
  enter: (state: ServiceState, note?: string) => void,
): Promise<void> {
  const { clock } = setting;
  const startedMs = clock.monotonicMs();
  let state = 'starting' as ServiceState;
  const tell = (next: ServiceState, note?: string) => {
    if (over.aborted || state === next) return;
    state = next;
    enter(next, note);
  };
  if (!policy.health) {
    await survival(setting, over);
    return tell('running');
  }
  let failures = 0;
  let wasHealthy = false;
  while (!over.aborted) {
    if (await setting.isAwake().catch(() => false)) {
      const isUp = await isHealthy(policy, setting, over);
      if (over.aborted) return;
      failures = isUp ? 0 : failures + 1;
      if (isUp) {
        wasHealthy = true;
        tell('running');
      } else if (wasHealthy && failures >= FAILURES_UNTIL_UNHEALTHY) {
        tell('unhealthy', 'It no longer answers its health check.');
      } else if (!wasHealthy && clock.monotonicMs() - startedMs > HEALTH_WINDOW_MS) {
        tell('unhealthy', 'It has not answered its health check since it started.');
      }
    }
    const isSettled = wasHealthy || state === 'unhealthy';
    await clock.sleep(isSettled ? HEALTH_INTERVAL_MS : HEALTH_START_INTERVAL_MS, { signal: over }).catch(() => {});
  }
}

async function isHealthy(
  { health }: ServicePolicy,
  { runtime, channel, variables }: ServiceSetting,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    if (health && 'port' in health) {
      const timeout = AbortSignal.any([signal, AbortSignal.timeout(HEALTH_TIMEOUT_MS)]);
      await using _open = await runtime.connect?.(health.port, { signal: timeout });
      return true;
    }
    if (!health) return true;
    const command = {
      argv: health.command,
      cwd: runtime.workdir,
      env: variables(),
      timeoutMs: HEALTH_TIMEOUT_MS,
      maxOutputBytes: 0,
    };
    const { exit, interruption } = await channel.run(command, { signal });
    return exit.code === 0 && !interruption;
  } catch {
    return false;
  }
}
