import type { SandboxProvider } from '@litterbox/core/provider';

const never = () => new Promise<never>(() => {});

/** A provider whose machine is gone: it answers nothing, and hears of no abort. */
export const unanswering: Partial<SandboxProvider> = {
  probe: never,
  create: never,
  open: never,
  remove: never,
  // oxlint-disable-next-line require-yield
  async *list() {
    await never();
  },
};
