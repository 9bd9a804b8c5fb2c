import { decodeRaw } from '@litterbox/core/provider';
import type { MachineProcess } from './machine-process.ts';
import { IncompleteScript, ScriptProblem, ShellParser } from './parse-shell.ts';
import { Shell } from './shell.ts';
import { Jump } from './shell-jump.ts';
import type { List } from './shell-syntax.ts';

const scriptOf = (text: string): List => new ShellParser(text).script();

/** The shell as a program: `sh -c TEXT [NAME [ARGUMENT…]]`, `sh -s`, `sh FILE [ARGUMENT…]`. */
export async function sh(process: MachineProcess, args: readonly string[]): Promise<number> {
  const [option = '-s', ...rest] = args;
  try {
    if (option === '-s') return await fromInput(process);
    const [text = '', name = 'sh', ...parameters] =
      option === '-c' ? rest : [contentOf(process, option), option, ...rest];
    const shell = new Shell(process, parameters);
    shell.name = name;
    return await ran(shell, () => shell.run(scriptOf(text)));
  } catch (error) {
    if (!(error instanceof ScriptProblem || error instanceof IncompleteScript)) throw error;
    await process.write(2, `sh: ${error.message || 'unexpected end'}\n`);
    return 2;
  }
}

const contentOf = (process: MachineProcess, path: string) => decodeRaw(process.machine.files.read(process.path(path)));

/** Command by command, as they come. */
async function fromInput(process: MachineProcess): Promise<number> {
  const shell = new Shell(process);
  // Commands that read from where the commands come from are not for this shell.
  return await ran(shell, async () => {
    let text = '';
    for (let part = await process.read(); part; part = await process.read()) {
      text += decodeRaw(part);
      text = await ranLines(shell, text);
    }
    return shell.status;
  });
}

/** Runs the lines that are whole, and gives the rest. */
async function ranLines(shell: Shell, text: string): Promise<string> {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  let done = 0;
  try {
    for (;;) {
      const parser = new ShellParser(whole.slice(done));
      const list = parser.nextLine();
      if (!list) return text.slice(whole.length);
      done += parser.position;
      await shell.run(list);
    }
  } catch (error) {
    if (error instanceof IncompleteScript) return text.slice(done);
    throw error;
  }
}

async function ran(shell: Shell, body: () => Promise<number>): Promise<number> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof Jump) return error.kind === 'return' ? error.count : 0;
    throw error;
  } finally {
    if (!shell.process.isKilled) await shell.finish();
  }
}
