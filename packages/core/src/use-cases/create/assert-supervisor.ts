import type { ExecChannel } from '../../channel/exec-channel.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import type { SupervisorName } from '../../domain/sandbox/policy.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import { shown } from '../../domain/text/shown.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import { SUPERVISORS } from '../../services/supervisors.ts';

/** @throws LitterboxError `UNSUPPORTED` when the services are to be looked after by what is not there. After the setup, which may bring it. */
export async function assertSupervisor(
  supervisor: SupervisorName,
  channel: ExecChannel,
  provider: string,
  options?: CallOptions,
): Promise<void> {
  const { programs } = SUPERVISORS[supervisor];
  const script = 'for lb_p do command -v "$lb_p" >/dev/null || { echo "$lb_p"; exit 1; }; done';
  const { exit, stdout } = await channel.run({ script, argv: programs, maxOutputBytes: 4096 }, options);
  if (exit.code === 0) return;
  const missing = shown(decodeRaw(stdout.bytes).trim());
  throw new LitterboxError('UNSUPPORTED', `container.supervisor is ${supervisor}, but the sandbox has no ${missing}.`, {
    operation: 'sandbox.create',
    provider,
    hint: 'Use an image that has it, or remove container.supervisor: Litterbox then looks after services itself.',
  });
}
