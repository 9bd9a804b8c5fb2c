import { type CallOptions } from '@litterbox/core/provider';

/** How the runtime of a sandbox is begun whose directory is there already. */
export interface CreateSteps<Runtime> {
  open(): Runtime | Promise<Runtime>;
  /** All else, until the sandbox accepts processes. */
  begin(runtime: Runtime): Promise<void>;
  /** Takes away all there is of the sandbox. Asked at most once, and never aborted. */
  remove(error: unknown): Promise<void>;
}

/** Begins the runtime. Where that fails or is aborted, the runtime is closed and the sandbox is removed before the caller hears of it. */
export async function createOrRollBack<Runtime extends AsyncDisposable>(
  { open, begin, remove }: CreateSteps<Runtime>,
  options?: CallOptions,
): Promise<Runtime> {
  let runtime: Runtime | undefined;
  try {
    runtime = await open();
    options?.signal?.throwIfAborted();
    await begin(runtime);
    options?.signal?.throwIfAborted();
    return runtime;
  } catch (error) {
    await runtime?.[Symbol.asyncDispose]();
    await remove(error);
    options?.signal?.throwIfAborted();
    throw error;
  }
}
