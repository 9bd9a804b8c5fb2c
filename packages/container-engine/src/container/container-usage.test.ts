import { describe, expect, it } from '@jest/globals';
import { SandboxId } from '@litterbox/core/provider';
import type { ContainerDirectories } from '../engine/container-directories.ts';
import type { Engine } from '../engine/engine.ts';
import { workspaceVolume } from './container-options.ts';
import { ContainerUsage } from './container-usage.ts';

const ID = SandboxId.make();
const CONTAINER = 'c'.repeat(64);

/** An engine with one container. */
class OneContainer {
  state = 'running';
  stats: unknown = {};
  file: Uint8Array | undefined;
  readonly usage: ContainerUsage;

  constructor() {
    const files = {
      read: async () => this.file,
      write: async (_path: string, bytes: Uint8Array) => void (this.file = bytes),
    };
    const docker = {
      listContainers: async () => [
        { Id: CONTAINER, State: this.state, Names: ['/a'], Mounts: [{ Type: 'volume', Name: workspaceVolume(ID) }] },
      ],
      getContainer: () => ({ stats: async () => this.stats }),
    };
    const ask = async (_operation: string, question: (client: unknown) => Promise<unknown>) => await question(docker);
    this.usage = new ContainerUsage(
      { ask, askIfThere: ask, title: 'Docker', kind: 'docker', provider: 'docker' } as unknown as Engine,
      { host: { files }, filesOf: () => ({ directory: '/d' }) } as unknown as ContainerDirectories,
    );
  }

  uses(ms: number): void {
    this.state = 'running';
    this.stats = { cpu_stats: { cpu_usage: { total_usage: ms * 1e6 } } };
  }

  async stop(): Promise<void> {
    await this.usage.keepOver(ID, CONTAINER, async () => void (this.state = 'exited'));
  }
}

describe('what an engine counts of a container', () => {
  it.each([
    [{ memory_stats: { usage: 4096 }, cpu_stats: { cpu_usage: { total_usage: 3e6 } }, pids_stats: { current: 2 } }, 3],
    [
      { memory_stats: { usage: '4096' }, cpu_stats: { cpu_usage: { total_usage: -1 } }, pids_stats: { current: NaN } },
      0,
    ],
    [{ memory_stats: null, cpu_stats: { cpu_usage: null }, pids_stats: { current: Infinity } }, 0],
    [{}, 0],
  ])('AX88: is counted where it is a number: %j', async (answer, members) => {
    const engine = new OneContainer();
    engine.stats = answer;
    expect(Object.keys(await engine.usage.of(ID))).toHaveLength(members);
  });

  it('is added up over its runs, whoever ends it how often', async () => {
    const engine = new OneContainer();
    engine.uses(10);
    await Promise.all([engine.stop(), engine.stop()]);
    await engine.stop();
    expect(await engine.usage.of(ID)).toEqual({ memoryBytes: 0, processes: 0, cpuMs: 10 });
    await engine.usage.begin(ID);
    engine.uses(5);
    expect(await engine.usage.of(ID)).toEqual({ cpuMs: 15 });
  });

  it('is a least where it ended behind our back, and nothing where the engine does not count', async () => {
    const engine = new OneContainer();
    engine.uses(10);
    await engine.stop();
    await engine.usage.begin(ID);
    engine.state = 'exited';
    expect(await engine.usage.of(ID)).toMatchObject({ cpuMs: 10, isCpuLeast: true });
    await engine.usage.begin(ID);
    engine.uses(5);
    expect(await engine.usage.of(ID)).toEqual({ cpuMs: 15, isCpuLeast: true });
    engine.stats = {};
    await engine.stop();
    expect(await engine.usage.of(ID)).toMatchObject({ cpuMs: 10, isCpuLeast: true });
    engine.state = 'running';
    expect(await engine.usage.of(ID)).toEqual({});
  });
});
