import { decodeRaw, encodeRaw, type Host, type ProcessHandle, type ProcessSpec } from '@litterbox/core/provider';

/** The same program with other words behind its name, scripts among them: for what breaks a provider from outside. */
export function rewritten(spec: ProcessSpec, change: (word: string) => string): ProcessSpec {
  const [first, ...rest] = spec.argv;
  return { ...spec, argv: [first, ...rest.map(change)] };
}

/** A host that runs other scripts than it was told to, and gives the session program other plans. */
export function rewritingHost(host: Host, change: (text: string) => string): Host {
  return {
    ...host,
    spawn: async (spec, options) => {
      const handle = await host.spawn(rewritten(spec, change), options);
      return takesPlans(spec) ? withOtherPlans(handle, change) : handle;
    },
  };
}

/** Whether it is the session program, asked for a session alone or for whatever comes on its stdin. */
const takesPlans = ({ argv }: ProcessSpec) => ['session', 'serve'].includes(argv.at(-1) ?? '');

function withOtherPlans(handle: ProcessHandle, change: (text: string) => string): ProcessHandle {
  return {
    exit: handle.exit,
    write: (bytes) => handle.write(encodeRaw(change(decodeRaw(bytes)))),
    closeStdin: () => handle.closeStdin(),
    kill: (signal) => handle.kill(signal),
    [Symbol.asyncIterator]: () => handle[Symbol.asyncIterator](),
    [Symbol.asyncDispose]: () => handle[Symbol.asyncDispose](),
  };
}

/** Options of `overlayfs` with which shell text starts its sessions. */
export const byShell = { sessionProgram: () => undefined };
