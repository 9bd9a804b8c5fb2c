import { decodeRaw } from '@litterbox/core/provider';
import { FileFailure } from './memory-files.ts';
import type { MachineProcess } from './machine-process.ts';

/** `grep` with `-E H n s I a l L Z i c`, `-m COUNT`, `-e PATTERN`, over files or what comes in. */
export async function grep(process: MachineProcess, args: readonly string[]): Promise<number> {
  const letters = new Set<string>();
  const rest: string[] = [];
  let pattern: string | undefined;
  let most = Number.POSITIVE_INFINITY;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '-e') pattern = args[(at += 1)];
    else if (arg === '-m') most = Number(args[(at += 1)]);
    else if (arg === '--') {
      rest.push(...args.slice(at + 1));
      break;
    } else if (arg.startsWith('-')) for (const letter of arg.slice(1)) letters.add(letter);
    else rest.push(arg);
  }
  const [first = '', ...others] = rest;
  const names = pattern === undefined ? others : rest;
  const expression = expressionOf(pattern ?? first, letters.has('i'));
  if (!expression) {
    await process.write(2, 'grep: Invalid regular expression\n');
    return 2;
  }
  let count = 0;
  for (const name of names.length === 0 ? [undefined] : names) {
    const content = await contentOf(process, name);
    if (!content) continue;
    const isBinary = letters.has('I') && content.includes(0);
    const lines = isBinary || content.length === 0 ? [] : decodeRaw(content).replace(/\n$/, '').split('\n');
    const found = lines
      .flatMap((text, index) => (expression.test(text) ? [{ text, line: index + 1 }] : []))
      .slice(0, most);
    count += found.length;
    if (letters.has('c')) continue;
    if (letters.has('l') || letters.has('L')) {
      if (letters.has('l') === found.length > 0) await process.write(1, `${name}${letters.has('Z') ? '\0' : '\n'}`);
      continue;
    }
    const prefix = name !== undefined && letters.has('H') ? `${name}${letters.has('Z') ? '\0' : ':'}` : '';
    for (const { text, line } of found)
      await process.write(1, `${prefix}${letters.has('n') ? `${line}:` : ''}${text}\n`);
  }
  if (letters.has('c')) await process.write(1, `${count}\n`);
  return Number(count === 0);
}

async function contentOf(process: MachineProcess, name: string | undefined): Promise<Uint8Array | undefined> {
  if (name === undefined) return await process.readAll();
  try {
    return process.machine.files.read(process.path(name));
  } catch (error) {
    if (error instanceof FileFailure) return undefined;
    throw error;
  }
}

function expressionOf(pattern: string, isCaseIgnored: boolean): RegExp | undefined {
  try {
    return new RegExp(pattern, isCaseIgnored ? 'i' : '');
  } catch {
    return undefined;
  }
}
