import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { ExecChannel } from '../channel/exec-channel.ts';
import { NO_SECRETS } from '../channel/held-secrets.ts';
import type { ServicePolicy } from '../domain/sandbox/policy.ts';
import type { Clock } from '../ports/common/clock.ts';
import type { ExitStatus } from '../domain/processes/exit-status.ts';
import type { OutputChunk, ProcessHandle } from '../ports/common/process.ts';
import type { SandboxRuntime } from '../ports/sandbox/sandbox-runtime.ts';
import { Service } from './service.ts';

const clock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (durationMs, call) =>
    await delay(durationMs, undefined, { ...(call?.signal && { signal: call.signal }) }),
};

/** Tells that it ended before the last of what it printed arrives, as an engine may that carries both apart. */
function lateProcess(last: string): ProcessHandle {
  const exit = Promise.withResolvers<ExitStatus>();
  let isDisposed = false;
  return {
    exit: exit.promise,
    async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
      await exit.promise;
      await new Promise((resolve) => setImmediate(resolve));
      if (!isDisposed) yield { type: 'stdout-data', bytes: new TextEncoder().encode(last) };
    },
    write: async () => {},
    closeStdin: async () => {},
    kill: async () => exit.resolve({ code: 0 }),
    async [Symbol.asyncDispose]() {
      isDisposed = true;
    },
  };
}

it('keeps what a service printed last, also when it arrives after the word that it was stopped', async () => {
  const runtime = { environment: {}, spawn: async () => lateProcess('bye\n') } as unknown as SandboxRuntime;
  const policy: ServicePolicy = {
    name: 'late',
    command: ['late'],
    restart: 'never',
    after: [],
    signals: { stop: 'SIGTERM' },
    stopTimeoutMs: 10_000,
  };
  const service = new Service(policy, {
    runtime,
    channel: new ExecChannel({
      spawn: async () => {
        throw new Error('nothing else runs here');
      },
    }),
    secrets: NO_SECRETS,
    clock,
    variables: () => ({}),
    isAwake: async () => true,
  });
  await service.start();
  await service.stop();
  expect(new TextDecoder().decode(service.log.since(0).bytes)).toBe('[litterbox: stopping with SIGTERM]\nbye\n');
});
