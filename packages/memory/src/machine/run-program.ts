import { CALL_VARIABLE } from '@litterbox/core/provider';
import { isCallers } from './is-callers.ts';
import type { MachineProcess } from './machine-process.ts';
import { FileFailure } from './memory-files.ts';

/** Runs a program in the process that it is given: one of the machine's by its name, or a script by its path. */
export async function runProgram(process: MachineProcess, name: string, args: readonly string[]): Promise<number> {
  await process.step();
  const { machine } = process;
  const program = machine.programs.get(name.replace(/^(?:\/usr)?\/bin\//, ''));
  if (program && (!name.includes('/') || name.startsWith('/bin/') || name.startsWith('/usr/bin/')))
    return await guarded(process, name, () => program(process, args));
  const node = name.includes('/') ? machine.files.look(process.path(name)) : undefined;
  if (node?.type === 'file' && (node.mode & 0o100) !== 0) {
    const sh = machine.programs.get('sh');
    return sh ? await sh(process, [process.path(name), ...args]) : 127;
  }
  if (!node && machine.unknown && isCallers(process.env.get(CALL_VARIABLE)))
    return await machine.unknown(process, [name, ...args]);
  await process.write(2, `sh: ${name}: ${node ? 'Permission denied' : 'not found'}\n`);
  return node ? 126 : 127;
}

async function guarded(process: MachineProcess, name: string, body: () => Promise<number>): Promise<number> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof FileFailure)) throw error;
    await process.write(2, `${name}: ${error.message}\n`);
    return 1;
  }
}
