import { decodeRaw } from '@litterbox/core/provider';
import { copyOfNode, FileFailure, type FileNode } from './memory-files.ts';
import type { MachineProcess, Program } from './machine-process.ts';
import { find } from './find.ts';
import { grep } from './grep.ts';
import { runProgram } from './run-program.ts';
import { printed } from './printed.ts';
import { sh } from './sh.ts';
import { tar } from './tar.ts';

/** Splits letters of options from what is meant; all after `--` is meant. */
function parsed(args: readonly string[]): { readonly options: ReadonlySet<string>; readonly names: readonly string[] } {
  const options = new Set<string>();
  const names: string[] = [];
  let isOver = false;
  for (const arg of args) {
    if (!isOver && arg === '--') isOver = true;
    else if (!isOver && /^-[A-Za-z]+$/.test(arg)) for (const letter of arg.slice(1)) options.add(letter);
    else names.push(arg);
  }
  return { options, names };
}

/** Does something with each name, and goes on after one that fails. */
async function each(
  process: MachineProcess,
  program: string,
  names: readonly string[],
  body: (path: string, name: string) => void | Promise<void>,
): Promise<number> {
  let code = 0;
  for (const name of names) {
    try {
      await body(process.path(name), name);
    } catch (error) {
      if (!(error instanceof FileFailure)) throw error;
      await process.write(2, `${program}: ${name}: ${error.message}\n`);
      code = 1;
    }
  }
  return code;
}

/** What is named, or what comes in. */
async function contentOf(process: MachineProcess, names: readonly string[]): Promise<Uint8Array> {
  if (names.length === 0) return await process.readAll();
  return Buffer.concat(names.map((name) => process.machine.files.read(process.path(name))));
}

/** The value of an option such as `-c 5` or `-n+2`. */
function counted(args: readonly string[], letter: string): string | undefined {
  const index = args.findIndex((arg) => arg.startsWith(`-${letter}`));
  if (index === -1) return undefined;
  return args[index]?.length === 2 ? args[index + 1] : args[index]?.slice(2);
}

function lineStart(content: Uint8Array, line: number): number {
  let at = 0;
  for (let count = 1; count < line && at < content.length; count += 1) {
    const end = content.indexOf(10, at);
    at = end === -1 ? content.length : end + 1;
  }
  return at;
}

const isEmpty = (node: FileNode | undefined) => node?.type === 'directory' && node.children.size === 0;

const basics: Readonly<Record<string, Program>> = {
  sh,
  tar,
  find,
  grep,
  true: async () => 0,
  false: async () => 1,

  async cat(process, args) {
    const { names } = parsed(args);
    if (names.length === 0)
      for (let part = await process.read(); part; part = await process.read()) await process.write(1, part);
    return await each(process, 'cat', names, async (path) => {
      await process.write(1, process.machine.files.read(path));
    });
  },

  async head(process, args) {
    const bytes = counted(args, 'c');
    const content = await process.readAll();
    const end = bytes === undefined ? lineStart(content, Number(counted(args, 'n') ?? 10) + 1) : Number(bytes);
    await process.write(1, content.subarray(0, end));
    return 0;
  },

  async tail(process, args) {
    const content = await process.readAll();
    const from = counted(args, 'n') ?? '+1';
    await process.write(1, content.subarray(lineStart(content, Number(from.replace('+', '')))));
    return 0;
  },

  async wc(process, args) {
    const { options, names } = parsed(args);
    const content = await contentOf(process, names);
    const lines = content.reduce((sum, byte) => sum + Number(byte === 10), 0);
    await process.write(1, `${options.has('c') ? content.length : lines}\n`);
    return 0;
  },

  async sort(process, args) {
    const lines = decodeRaw(await contentOf(process, parsed(args).names)).split('\n');
    await process.write(
      1,
      lines
        .slice(0, -1)
        .sort()
        .map((line) => `${line}\n`)
        .join(''),
    );
    return 0;
  },

  async rm(process, args) {
    const { options, names } = parsed(args);
    return await each(process, 'rm', names, (path) => {
      const { files } = process.machine;
      const node = files.look(path, false);
      if (!node && options.has('f')) return;
      if (node?.type === 'directory' && !options.has('r')) throw new FileFailure('Is a directory');
      files.remove(path);
    });
  },

  async rmdir(process, args) {
    const { options, names } = parsed(args);
    const { files } = process.machine;
    return await each(process, 'rmdir', names, (path, name) => {
      if (!isEmpty(files.look(path, false))) throw new FileFailure('Directory not empty');
      files.remove(path);
      const above = name
        .split('/')
        .slice(0, -1)
        .filter((part) => part !== '.');
      for (; options.has('p') && above.length > 0; above.pop()) {
        if (!isEmpty(files.look(process.path(above.join('/')), false))) throw new FileFailure('Directory not empty');
        files.remove(process.path(above.join('/')));
      }
    });
  },

  async mkdir(process, args) {
    const { options, names } = parsed(args);
    return await each(process, 'mkdir', names, (path) => process.machine.files.makeDirectory(path, options.has('p')));
  },

  async mkfifo(process, args) {
    const { files } = process.machine;
    return await each(process, 'mkfifo', args, (path) => {
      const { parent, name, node } = files.find(path);
      if (node) throw new FileFailure('File exists');
      files.put(parent, name, { type: 'special', kind: 'fifo', version: 0 });
    });
  },

  async touch(process, args) {
    return await each(process, 'touch', args, (path) => process.machine.files.touch(process.machine.files.open(path)));
  },

  async mv(process, args) {
    const [source = '', target = ''] = parsed(args).names;
    process.machine.files.rename(process.path(source), process.path(target));
    return 0;
  },

  async cp(process, args) {
    const { names } = parsed(args);
    const [source = '', target = ''] = names;
    const { files } = process.machine;
    const { node } = files.find(process.path(source));
    const to = files.find(process.path(target));
    if (!node) throw new FileFailure('No such file or directory');
    const copy = copyOfNode(node);
    if (to.node?.type === 'directory') files.put(to.node, source.slice(source.lastIndexOf('/') + 1), copy);
    else files.put(to.parent, to.name, copy);
    files.touchAll(copy);
    return 0;
  },

  async ln(process, args) {
    const { options, names } = parsed(args);
    const [source = '', target = ''] = names;
    const { files } = process.machine;
    const { parent, name, node } = files.find(process.path(target), false);
    if (node) throw new FileFailure('File exists');
    const linked = options.has('s')
      ? { type: 'symlink' as const, target: source, version: 0 }
      : files.find(process.path(source), false).node;
    if (!linked) throw new FileFailure('No such file or directory');
    files.put(parent, name, linked);
    return 0;
  },

  async readlink(process, args) {
    const { options, names } = parsed(args);
    return await each(process, 'readlink', names, async (path) => {
      const { files } = process.machine;
      const found = files.find(path, options.has('f'));
      const text = options.has('f') ? found.path : found.node?.type === 'symlink' ? found.node.target : undefined;
      if (text === undefined) throw new FileFailure('Invalid argument');
      await process.write(1, `${text}\n`);
    });
  },

  /** Knows modes alone, as `stat -c %a`. */
  async stat(process, [option, format, ...names]) {
    if (option !== '-c' || format !== '%a') return 1;
    return await each(process, 'stat', names, async (path) => {
      const { node } = process.machine.files.find(path);
      if (!node || !('mode' in node)) throw new FileFailure('No such file or directory');
      await process.write(1, `${(node.mode & 0o777).toString(8)}\n`);
    });
  },

  async chmod(process, [how = '', ...rest]) {
    const [mode = '', ...names] = how === '-R' ? rest : [how, ...rest];
    const { files } = process.machine;
    return await each(process, 'chmod', names, (path) => {
      const { node } = files.find(path);
      if (!node || !('mode' in node)) throw new FileFailure('No such file or directory');
      const changed = (before: number) =>
        /^\d+$/.test(mode)
          ? Number.parseInt(mode, 8)
          : mode.includes('-x')
            ? before & ~0o111
            : mode.endsWith('+x')
              ? before | 0o111
              : before | 0o700;
      const walk = (one: FileNode) => {
        if ('mode' in one) one.mode = changed(one.mode);
        files.touch(one);
        if (how === '-R' && one.type === 'directory') for (const child of one.children.values()) walk(child);
      };
      walk(node);
    });
  },

  async ls(process, args) {
    const { options, names } = parsed(args);
    const wanted = names.length === 0 ? ['.'] : names;
    const isAll = options.has('A') || options.has('a');
    const texts: string[] = [];
    const code = await each(process, 'ls', wanted, (path, name) => {
      const { node } = process.machine.files.find(path);
      if (!node) throw new FileFailure('No such file or directory');
      const children = node.type === 'directory' ? [...node.children.keys()].sort() : [name];
      const shown = children.filter((child) => isAll || !child.startsWith('.')).map((child) => `${child}\n`);
      texts.push((wanted.length > 1 && node.type === 'directory' ? `${name}:\n` : '') + shown.join(''));
    });
    await process.write(1, texts.join('\n'));
    return code;
  },

  async sleep(process, [seconds = '0']) {
    await process.wait(process.machine.clock.sleep(Number(seconds) * 1000));
    return 0;
  },

  async printf(process, args) {
    const [format = '', ...values] = args;
    await process.write(1, printed(format, values));
    return 0;
  },

  async xargs(process, args) {
    const from = args.findIndex((arg) => !arg.startsWith('-'));
    const [command = '', ...given] = args.slice(from);
    const input = decodeRaw(await process.readAll());
    const names = input.split('\0').filter((name) => name !== '');
    if (names.length === 0 && args.slice(0, from).includes('-r')) return 0;
    const child = process.machine.start(process, [command], (one) => runProgram(one, command, [...given, ...names]));
    return await process.wait(child.exit);
  },

  async env(process) {
    await process.write(1, [...process.env].map(([name, value]) => `${name}=${value}\n`).join(''));
    return 0;
  },
};

/** The programs that every machine in memory has, by their names. A test may bring others. */
export const PROGRAMS: ReadonlyMap<string, Program> = new Map(Object.entries(basics));
