import type { SandboxRecord, StateStore, StateWrite } from '@litterbox/core/provider';
import type { UseCaseFixture } from '../src/index.ts';

type Input = Parameters<UseCaseFixture['createSandbox']['create']>[0];

/** Makes a sandbox, as the ordinary way is. */
export async function made(fixture: UseCaseFixture, name = 'a', input: Partial<Input> = {}): Promise<SandboxRecord> {
  return (await fixture.createSandbox.create({ ...input, name })).record;
}

/** Makes one in which a revision holds one change. */
export async function changed(fixture: UseCaseFixture, name = 'a', input: Partial<Input> = {}): Promise<SandboxRecord> {
  const record = await made(fixture, name, input);
  await fixture.runCommand.run({ sandbox: name, command: 'echo work >work' });
  return record;
}

/** Puts a record into a state that a program that was killed, or another one, left it in. */
export async function inState(
  fixture: UseCaseFixture,
  name: string,
  state: SandboxRecord['state'],
): Promise<SandboxRecord> {
  const record = fixture.shelves.records.records.find(({ slug }) => slug === name);
  if (!record) throw new Error(`There is no record of ${name}.`);
  return await fixture.state.update(record, { state });
}

/** Shell commands for a setup. */
export const setup = (...scripts: readonly string[]): { setup: readonly (readonly [string, string, string])[] } => ({
  setup: scripts.map((script) => ['sh', '-c', script]),
});

/** The state, and into `durable` the name of each write of a sandbox's life that waits for the disk. */
export function durableWrites(real: StateStore, durable: string[]): Partial<StateStore> {
  const told = (name: string, options?: StateWrite) => {
    if (!options?.isLosable) durable.push(name);
  };
  return {
    begin: (entry, options) => (told('begin', options), real.begin(entry, options)),
    insert: (record, options) => (told('insert'), real.insert(record, options)),
    step: (id, step, options) => (told('step', options), real.step(id, step, options)),
    update: (record, change, options) => (told('update', options), real.update(record, change, options)),
    remove: (id, options) => (told('remove'), real.remove(id, options)),
    end: (id, options) => (told('end', options), real.end(id, options)),
  };
}
