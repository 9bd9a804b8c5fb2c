import { type ByteStream, type Host, type ProcessSpec, SandboxId } from '@litterbox/core/provider';
import { describe, expect, it } from '@jest/globals';
import { ContainerFacts, type ContainerFactsInput } from './container-facts.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

const CONTAINER = 'c0ffee'.repeat(4);

/** A machine that runs nothing: it notes what it was to run, and which files were to be read. */
class NotingMachine {
  readonly asked: string[] = [];

  readonly host = {
    name: 'noting',
    loopback: () => undefined,
    facts: async () => ({ uid: 0 }),
    files: {
      read: async (path: string) => {
        this.asked.push(path);
        return undefined;
      },
    },
    spawn: async ({ argv }: ProcessSpec) => {
      this.asked.push(...argv);
      return {
        exit: Promise.resolve({ code: 1 }),
        async *[Symbol.asyncIterator]() {},
        [Symbol.asyncDispose]: async () => {},
      };
    },
  } as unknown as Host;
}

const inspected = (pid: unknown) => ({
  Id: CONTAINER,
  State: { Pid: pid, Running: true },
  Config: { Env: null, Labels: null },
  HostConfig: {},
  Mounts: [],
});

/** Facts over an engine that answers with this. */
function factsOf(machine: NotingMachine, answer: unknown): ContainerFacts {
  const container = { inspect: async () => answer };
  const docker = { getContainer: () => container };
  const ask = async (_operation: string, question: (docker: object) => Promise<unknown>) => await question(docker);
  const engine = {
    provider: 'docker',
    title: 'Docker',
    ask,
    askIfThere: ask,
    exec: async (): Promise<{ stream: Partial<ByteStream> }> => {
      throw new Error('not asked from inside');
    },
  };
  return new ContainerFacts({
    engine,
    directories: { host: machine.host },
    facts: async () => ({ isRootless: false }),
    disks: { sizeBytes: async (_meta: SandboxMeta, pid: number) => void machine.asked.push(`/proc/${pid}`) },
    ensureRunning: async () => CONTAINER,
  } as unknown as ContainerFactsInput);
}

const MARKED = 'a27b-mark';

describe('what an engine on another machine says of a container', () => {
  it.each([
    `1; echo ${MARKED}; #`,
    `$(echo ${MARKED})`,
    `../../${MARKED}`,
    { toString: () => MARKED },
    [MARKED],
    -1,
    1.5,
    2 ** 40,
    null,
  ])('AX87: is no part of a script of this machine, nor of a path here: a process called %j', async (pid) => {
    const machine = new NotingMachine();
    const facts = factsOf(machine, inspected(pid));
    expect((await facts.network({ id: SandboxId.make() } as SandboxMeta)).namespace).toBeUndefined();
    await expect(facts.assurance({} as SandboxMeta)).rejects.toThrow('not asked from inside');
    const asked = machine.asked.join('\n');
    expect(asked).toContain('/proc/0/status');
    expect(asked).not.toMatch(/a27b-mark|\/proc\/(?!0\/|0$)/m);
  });

  it('AX87: is what is looked at where it is a number, or this test would see nothing', async () => {
    const machine = new NotingMachine();
    await factsOf(machine, inspected(4711)).network({ id: SandboxId.make() } as SandboxMeta);
    expect(machine.asked.join('\n')).toContain('/proc/4711/status');
  });

  it.each([
    7,
    'running',
    [],
    { ...inspected(1), Id: '../volumes' },
    { ...inspected(1), Id: 7 },
    { ...inspected(1), State: null },
    { ...inspected(1), Config: undefined },
    { ...inspected(1), Config: { Env: { 0: 'A=b' } } },
    { ...inspected(1), Config: { Labels: { a: 1 } } },
    { ...inspected(1), HostConfig: 'none' },
    { ...inspected(1), Mounts: {} },
    { ...inspected(1), Mounts: [null] },
  ])('AX88: is refused by name where no engine says so: %j', async (answer) => {
    const asked = factsOf(new NotingMachine(), answer).network({} as SandboxMeta);
    await expect(asked).rejects.toMatchObject({ code: 'PROVIDER_PROTOCOL_ERROR', message: /Docker/ });
  });
});
