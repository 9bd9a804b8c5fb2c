import type { Policy } from '../../domain/sandbox/policy.ts';

/** A policy without the commands that programs left running: they are those of one sandbox. */
export function withoutKept(policy: Policy): Policy {
  const { services = [] } = policy;
  const lasting = services.filter(({ isOnce }) => !isOnce);
  return lasting.length === services.length ? policy : { ...policy, services: lasting };
}
