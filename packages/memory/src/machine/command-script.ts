import { decodeRaw, encodeRaw } from '@litterbox/core/provider';
import { FileFailure } from './memory-files.ts';
import { type MachineProcess, ProcessEnd, type Program } from './machine-process.ts';
import { ScriptedFiles } from './scripted-files.ts';
import { sh } from './sh.ts';

/** A command that a sandbox in memory was asked to run. */
export interface ScriptedCommand {
  /** As the caller gave it: text for a shell, or a program with its arguments. */
  readonly command: string | readonly [string, ...string[]];
  /** The same in one line, its words with spaces between. */
  readonly text: string;
  /** Its absolute directory inside. */
  readonly cwd: string;
  /** Its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The sandbox's files. Relative paths start at `cwd`. */
  readonly files: ScriptedFiles;
  /** All of its standard input as text. Resolves at the end of it. */
  stdin(): Promise<string>;
  /** Prints now, before the answer. */
  print(output: string | Uint8Array): Promise<void>;
  /** Prints an error now, before the answer. */
  printError(output: string | Uint8Array): Promise<void>;
}

/** How a scripted command ends: text is its output, a number its exit code. */
export type ScriptedAnswer =
  | string
  | number
  | {
      /** @defaultValue 0 */
      readonly exitCode?: number;
      readonly stdout?: string | Uint8Array;
      readonly stderr?: string | Uint8Array;
    };

/**
 * Runs a command in place of a machine. Without an answer the shell in memory runs it, which knows the usual builtins and a few programs
 * such as `cat`, `ls`, `grep` and `mkdir`.
 */
export type CommandScript = (
  command: ScriptedCommand,
) => ScriptedAnswer | undefined | void | Promise<ScriptedAnswer | undefined | void>;

/** The programs by which a script is asked. An argument list whose program is one of the machine's own runs as it is. */
export interface ScriptPrograms {
  /** Runs text. */
  readonly bash: Program;
  /** Runs a program that the machine does not have, its name before its arguments. */
  readonly unknown: Program;
}

/** @param onFailure hears what the script threw: the command alone can only exit with 1 */
export function scriptPrograms(script: CommandScript, onFailure: (error: unknown) => void): ScriptPrograms {
  const answered = async (process: MachineProcess, command: ScriptedCommand['command'], otherwise: Program) => {
    try {
      const answer = await process.wait(Promise.resolve(script(commandOf(process, command))));
      return answer === undefined ? await otherwise(process, []) : await given(process, answer);
    } catch (error) {
      if (error instanceof ProcessEnd || error instanceof FileFailure) throw error;
      onFailure(error);
      await process.write(2, `The script of the sandbox failed: ${String(error)}\n`);
      return 1;
    }
  };
  return {
    async bash(process, args) {
      const text = args[args.indexOf('-c') + 1];
      if (!args.includes('-c') || text === undefined) return await sh(process, ['-s']);
      return await answered(process, text, async () => await sh(process, ['-c', text]));
    },
    async unknown(process, args) {
      const [name = '', ...rest] = args;
      return await answered(process, [name, ...rest], async () => {
        await process.write(2, `sh: ${name}: not found\n`);
        return 127;
      });
    },
  };
}

function commandOf(process: MachineProcess, command: ScriptedCommand['command']): ScriptedCommand {
  return {
    command,
    text: typeof command === 'string' ? command : command.join(' '),
    cwd: process.cwd,
    env: Object.fromEntries(process.env),
    files: new ScriptedFiles(process),
    stdin: async () => decodeRaw(await process.readAll()),
    print: async (output) => await process.write(1, bytesOf(output)),
    printError: async (output) => await process.write(2, bytesOf(output)),
  };
}

async function given(process: MachineProcess, answer: ScriptedAnswer): Promise<number> {
  if (typeof answer === 'number') return answer;
  const { exitCode = 0, stdout = '', stderr = '' } = typeof answer === 'string' ? { stdout: answer } : answer;
  await process.write(1, bytesOf(stdout));
  await process.write(2, bytesOf(stderr));
  return exitCode;
}

const bytesOf = (content: string | Uint8Array) => (typeof content === 'string' ? encodeRaw(content) : content);
