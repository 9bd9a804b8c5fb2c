import { type MachineProcess, ProcessEnd } from './machine-process.ts';
import { printed } from './printed.ts';
import { ShellParser } from './parse-shell.ts';
import { runProgram } from './run-program.ts';
import { Jump } from './shell-jump.ts';
import type { ShellState } from './shell-state.ts';
import { testCondition } from './test-condition.ts';

type Builtin = (shell: ShellState, args: readonly string[]) => Promise<number>;

const SIGNALS: Readonly<Record<string, number>> = { HUP: 1, INT: 2, QUIT: 3, KILL: 9, USR1: 10, USR2: 12, TERM: 15 };

/** Commands that the shell does by itself. */
export const BUILTINS: Readonly<Record<string, Builtin>> = {
  ':': async () => 0,
  true: async () => 0,
  false: async () => 1,
  '[': async ({ process }, args) => Number(!testCondition(process, args.slice(0, -1))),
  test: async ({ process }, args) => Number(!testCondition(process, args)),
  umask: async () => 0,

  async cd(shell, args) {
    const [to = shell.variables.get('HOME') ?? '/'] = args.filter((one) => one !== '--');
    const { node, path } = shell.process.machine.files.find(shell.process.path(to));
    if (node?.type !== 'directory') return 1;
    if ((node.mode & 0o100) === 0) return 1;
    shell.process.cwd = path;
    return 0;
  },

  async pwd({ process }) {
    await process.write(1, `${process.cwd}\n`);
    return 0;
  },

  async export(shell, args) {
    for (const arg of args) {
      const cut = arg.indexOf('=');
      const name = cut === -1 ? arg : arg.slice(0, cut);
      if (cut !== -1) shell.variables.set(name, arg.slice(cut + 1));
      shell.exported.add(name);
    }
    return 0;
  },

  async unset(shell, args) {
    for (const name of args) shell.variables.delete(name);
    return 0;
  },

  async set(shell, args) {
    if (args[0] === '--') shell.parameters = args.slice(1);
    return 0;
  },

  async shift(shell, [count = '1']) {
    shell.parameters = shell.parameters.slice(Number(count));
    return 0;
  },

  async exit(shell, [code]) {
    throw new ProcessEnd(code === undefined ? shell.status : Number(code) & 0xff);
  },

  async return(shell, [code]) {
    throw new Jump('return', code === undefined ? shell.status : Number(code));
  },

  async break(_shell, [count = '1']) {
    throw new Jump('break', Number(count));
  },

  async continue(_shell, [count = '1']) {
    throw new Jump('continue', Number(count));
  },

  async exec(shell, [name, ...args]) {
    if (name === undefined) return 0;
    shell.process.env = shell.environment;
    shell.process.argv = [name, ...args];
    throw new ProcessEnd(await runProgram(shell.process, name, args));
  },

  async eval(shell, args) {
    return await shell.run(new ShellParser(args.join(' ')).script());
  },

  async trap(shell, [text, ...names]) {
    if (names.includes('EXIT') || names.includes('0')) shell.onExit = text;
    return 0;
  },

  async wait({ process }, args) {
    const wanted = args.map(Number);
    const children = [...process.machine.processes.values()].filter(({ parent }) => parent === process.pid);
    for (const child of children) if (wanted.length === 0 || wanted.includes(child.pid)) await process.wait(child.exit);
    return 0;
  },

  async kill({ process }, args) {
    const [option, ...pids] = args[0]?.startsWith('-') ? args : ['-TERM', ...args];
    const signal = SIGNALS[option?.slice(1).replace(/^SIG/, '') ?? ''] ?? Number(option?.slice(1));
    for (const pid of pids) process.machine.processes.get(Number(pid))?.kill(signal || 15);
    return 0;
  },

  async echo({ process }, args) {
    const isOpen = args[0] === '-n';
    await process.write(1, args.slice(isOpen ? 1 : 0).join(' ') + (isOpen ? '' : '\n'));
    return 0;
  },

  async printf({ process }, args) {
    const [format = '', ...values] = args[0] === '--' ? args.slice(1) : args;
    await process.write(1, printed(format, values));
    return 0;
  },

  async read(shell, args) {
    const names = args.filter((arg) => arg !== '-r');
    const line = await shell.process.readLine();
    const separators = shell.variables.get('IFS') ?? ' \t\n';
    let rest = separators === '' ? (line ?? '') : (line ?? '').trim();
    for (const [index, name] of names.entries()) {
      const cut = separators === '' ? -1 : rest.search(/[ \t]/);
      const isLast = index === names.length - 1 || cut === -1;
      shell.variables.set(name, isLast ? rest : rest.slice(0, cut));
      rest = isLast ? '' : rest.slice(cut).trimStart();
    }
    return Number(line === undefined);
  },

  async command(shell, args) {
    const [option, name = ''] = args;
    if (option !== '-v') return await shell.process.wait(shell.program(option ?? '', args.slice(1)).exit);
    const isKnown = name in BUILTINS || shell.functions.has(name) || shell.process.machine.programs.has(name);
    if (isKnown) await shell.process.write(1, `${name}\n`);
    return Number(!isKnown);
  },

  // What the channel's own functions of these names find out in /proc, this machine knows.
  async lb_held({ process }) {
    const own = [process.files.get(1), process.files.get(8)];
    const others = [...process.machine.processes.values()].filter(({ pid }) => pid !== process.pid);
    const isHeld = others.some(({ files }) => [...files.values()].some((file) => own.includes(file)));
    return Number(!isHeld);
  },

  async lb_kill({ process }, [worker = '', call = '']) {
    for (const victim of victims(process, Number(worker), call)) victim.kill(9);
    return 0;
  },
};

/** What descends from the worker, and orphans that carry the call's mark, or none. */
function victims({ machine, pid: own }: MachineProcess, worker: number, call: string): readonly MachineProcess[] {
  const below = machine.familyOf(worker).filter(({ pid }) => pid !== worker);
  const orphans = [...machine.processes.values()].filter(
    ({ parent, pid, env }) =>
      parent === 1 && pid !== own && pid !== worker && [call, undefined].includes(env.get('LITTERBOX_CALL')),
  );
  return [...below, ...orphans.flatMap(({ pid }) => machine.familyOf(pid))].filter(({ pid }) => pid !== own);
}
