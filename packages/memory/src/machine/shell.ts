import { decodeRaw, encodeRaw } from '@litterbox/core/provider';
import { globExpression, hasWildcards, LITERAL, withoutMarks } from './glob-expression.ts';
import { type MachineProcess, ProcessEnd } from './machine-process.ts';
import { FileFailure } from './memory-files.ts';
import { close, fileReader, fileWriter, nothing, type OpenFile, pipe } from './open-file.ts';
import { ShellParser } from './parse-shell.ts';
import { runProgram } from './run-program.ts';
import { BUILTINS } from './shell-builtins.ts';
import { Jump } from './shell-jump.ts';
import type { ShellState } from './shell-state.ts';
import type { Command, List, Pipeline, Redirection, Word, WordPart } from './shell-syntax.ts';
import { sumOf } from './sum-of.ts';

/** Runs commands in a process. A subshell is another one, of a process of its own. */
export class Shell implements ShellState {
  readonly process: MachineProcess;
  readonly variables: Map<string, string>;
  readonly exported: Set<string>;
  readonly functions: Map<string, Command>;
  parameters: readonly string[];
  name = 'sh';
  status = 0;
  lastBackground = 0;
  /** What `$$` is: a subshell tells its parent's. */
  pid: number;
  onExit: string | undefined;
  /** How the last command ended whose output became part of a word. */
  #substituted = 0;

  constructor(process: MachineProcess, parameters: readonly string[] = []) {
    this.process = process;
    this.pid = process.pid;
    this.parameters = parameters;
    this.variables = new Map(process.env);
    this.exported = new Set(process.env.keys());
    this.functions = new Map();
  }

  async run(list: List): Promise<number> {
    for (const chain of list) {
      if (chain.isBackground) {
        this.lastBackground = this.#fork((shell) => shell.#last(chain)).pid;
        this.status = 0;
        continue;
      }
      this.status = await this.#pipeline(chain.first);
      for (const [operator, pipeline] of chain.rest)
        if ((this.status === 0) === (operator === '&&')) this.status = await this.#pipeline(pipeline);
    }
    return this.status;
  }

  /** What a process of its own does: nothing comes after it, so that what it redirects it need not have back. */
  async #last(chain: List[number]): Promise<number> {
    const [command, ...others] = chain.first.commands;
    const isAlone = chain.rest.length === 0 && others.length === 0 && !chain.first.isNegated;
    if (command && isAlone) return await this.#command(command, true);
    return await this.run([{ ...chain, isBackground: false }]);
  }

  /** Runs what `trap` left to be done at the end. */
  async finish(): Promise<void> {
    const text = this.onExit;
    this.onExit = undefined;
    if (text !== undefined) await this.run(new ShellParser(text).script());
  }

  get environment(): Map<string, string> {
    return new Map(
      [...this.exported].flatMap((name) => {
        const value = this.variables.get(name);
        return value === undefined ? [] : [[name, value] as const];
      }),
    );
  }

  #fork(body: (shell: Shell) => Promise<number>, replaced?: ReadonlyMap<number, OpenFile>): MachineProcess {
    return this.process.machine.start(
      this.process,
      this.process.argv,
      async (process) => {
        const shell = new Shell(process, this.parameters);
        for (const [name, value] of this.variables) shell.variables.set(name, value);
        for (const name of this.exported) shell.exported.add(name);
        for (const [name, command] of this.functions) shell.functions.set(name, command);
        shell.pid = this.pid;
        shell.status = this.status;
        try {
          return await body(shell);
        } finally {
          if (!process.isKilled) await shell.finish();
        }
      },
      replaced,
    );
  }

  async #pipeline({ commands, isNegated }: Pipeline): Promise<number> {
    const [first, ...others] = commands;
    if (!first) return 0;
    const code = others.length === 0 ? await this.#command(first) : await this.#piped(commands);
    return isNegated ? Number(code === 0) : code;
  }

  async #piped(commands: readonly Command[]): Promise<number> {
    const stages: MachineProcess[] = [];
    let input: OpenFile | undefined;
    for (const [index, command] of commands.entries()) {
      const next = index === commands.length - 1 ? undefined : pipe();
      const replaced = new Map<number, OpenFile>();
      if (input) replaced.set(0, input);
      if (next) replaced.set(1, next.writer);
      stages.push(this.#fork((shell) => shell.#command(command, true), replaced));
      input = next?.reader;
    }
    const codes = await this.process.wait(Promise.all(stages.map(({ exit }) => exit)));
    return codes.at(-1) ?? 0;
  }

  async #command(command: Command, isLast = false): Promise<number> {
    await this.process.step();
    if (command.type === 'simple') return await this.#simple(command, isLast);
    const saved = await this.#redirected(command.redirections);
    if (!saved) return 1;
    if (isLast) for (const [, file] of saved) close(file);
    try {
      return await this.#compound(command);
    } finally {
      if (!isLast) this.#restore(saved);
    }
  }

  async #compound(command: Exclude<Command, { type: 'simple' }>): Promise<number> {
    switch (command.type) {
      case 'group':
        return await this.run(command.list);
      case 'subshell': {
        const child = this.#fork((shell) => shell.run(command.list));
        return await this.#waitFor(child);
      }
      case 'if':
        for (const [condition, body] of command.branches)
          if ((await this.run(condition)) === 0) return await this.run(body);
        return command.otherwise ? await this.run(command.otherwise) : 0;
      case 'while': {
        let code = 0;
        while (((await this.run(command.condition)) === 0) !== command.isUntil) {
          const isOver = await this.#loopBody(command.body);
          code = this.status;
          if (isOver) break;
        }
        return code;
      }
      case 'for': {
        const words = command.words ? await this.fields(command.words) : this.parameters;
        let code = 0;
        for (const word of words) {
          this.variables.set(command.name, word);
          const isOver = await this.#loopBody(command.body);
          code = this.status;
          if (isOver) break;
        }
        return code;
      }
      case 'case': {
        const text = withoutMarks(await this.#text(command.word));
        for (const [patterns, body] of command.items)
          for (const pattern of patterns)
            if (globExpression(await this.#text(pattern)).test(text)) return await this.run(body);
        return 0;
      }
      case 'function':
        this.functions.set(command.name, command.body);
        return 0;
    }
  }

  /** True when the loop is to end. */
  async #loopBody(body: List): Promise<boolean> {
    try {
      await this.run(body);
      return false;
    } catch (error) {
      if (!(error instanceof Jump) || error.kind === 'return') throw error;
      error.count -= 1;
      if (error.count > 0) throw error;
      return error.kind === 'break';
    }
  }

  async #simple(command: Extract<Command, { type: 'simple' }>, isLast: boolean): Promise<number> {
    this.#substituted = 0;
    const words = await this.fields(command.words);
    const assigned: (readonly [string, string])[] = [];
    for (const [name, value] of command.assignments) assigned.push([name, withoutMarks(await this.#text(value))]);
    const [name, ...args] = words;
    const saved = await this.#redirected(command.redirections);
    if (!saved) return 1;
    // `exec` and what nothing comes after keep what they were given.
    const isKept = isLast || name === 'exec';
    if (isKept) for (const [, file] of saved) close(file);
    try {
      if (name === undefined) {
        for (const [variable, value] of assigned) this.variables.set(variable, value);
        return this.#substituted;
      }
      return await this.#called(name, args, assigned);
    } finally {
      if (!isKept) this.#restore(saved);
    }
  }

  async #called(
    name: string,
    args: readonly string[],
    assigned: readonly (readonly [string, string])[],
  ): Promise<number> {
    const builtin = BUILTINS[name];
    const body = this.functions.get(name);
    if (builtin || body) {
      for (const [variable, value] of assigned) this.variables.set(variable, value);
      return builtin ? await builtin(this, args) : await this.#function(body, args);
    }
    return await this.#waitFor(this.program(name, args, assigned));
  }

  async #function(body: Command | undefined, args: readonly string[]): Promise<number> {
    const before = this.parameters;
    this.parameters = args;
    try {
      return body ? await this.#command(body) : 0;
    } catch (error) {
      if (error instanceof Jump && error.kind === 'return') return error.count;
      throw error;
    } finally {
      this.parameters = before;
    }
  }

  /** Starts a program as a process of its own. */
  program(
    name: string,
    args: readonly string[],
    assigned: readonly (readonly [string, string])[] = [],
  ): MachineProcess {
    const env = new Map([...this.environment, ...assigned]);
    const { pid, cwd, files } = this.process;
    return this.process.machine.start({ pid, cwd, files, env }, [name, ...args], (process) =>
      runProgram(process, name, args),
    );
  }

  async #waitFor(child: MachineProcess): Promise<number> {
    return await this.process.wait(child.exit);
  }

  /** Opens what is redirected; gives what was there before, or nothing when something cannot be opened. */
  async #redirected(redirections: readonly Redirection[]): Promise<readonly Saved[] | undefined> {
    const saved: Saved[] = [];
    for (const { fd, operator, target } of redirections) {
      const text = withoutMarks(await this.#text(target));
      const before = this.process.files.get(fd);
      try {
        const file = this.#opened(operator, text);
        saved.push([fd, before]);
        // Held by what is saved from now on.
        if (file) this.process.files.set(fd, file);
        else this.process.files.delete(fd);
      } catch (error) {
        if (!(error instanceof FileFailure)) throw error;
        const words = `sh: ${text}: ${error.message}\n`;
        await this.process.files.get(2)?.write(encodeRaw(words));
        this.#restore(saved);
        return undefined;
      }
    }
    return saved;
  }

  #opened(operator: Redirection['operator'], text: string): OpenFile | undefined {
    const { process } = this;
    const { files } = process.machine;
    if (operator === '<&' || operator === '>&') {
      const file = text === '-' ? undefined : process.files.get(Number(text));
      if (file) file.holders += 1;
      return file;
    }
    const path = process.path(text);
    if (operator === '<') {
      const { node } = files.find(path);
      return node?.type === 'special' ? nothing() : fileReader(files.read(path));
    }
    const file = files.open(path);
    if (file.type !== 'file') return nothing();
    if (operator === '>') {
      file.content = new Uint8Array();
      files.touch(file);
    }
    return fileWriter(files, file);
  }

  #restore(saved: readonly Saved[]): void {
    for (const [fd, file] of saved.toReversed()) {
      close(this.process.files.get(fd));
      if (file) this.process.files.set(fd, file);
      else this.process.files.delete(fd);
    }
  }

  /** Words as a program gets them: filled in, split, and with the names that patterns stand for. */
  async fields(words: readonly Word[]): Promise<readonly string[]> {
    const fields: string[] = [];
    for (const word of words)
      for (const field of await this.#split(word))
        fields.push(...(hasWildcards(field) ? this.#names(field) : [withoutMarks(field)]));
    return fields;
  }

  async #split(word: Word): Promise<readonly string[]> {
    const fields: string[] = [];
    let current: string | undefined;
    const add = (text: string) => {
      current = (current ?? '') + text;
    };
    for (const [index, part] of word.entries()) {
      if (part.type === 'parameter' && part.name === '@' && part.isQuoted) {
        for (const [at, parameter] of this.parameters.entries()) {
          if (at > 0) {
            fields.push(current ?? '');
            current = undefined;
          }
          add(literal(parameter));
        }
        continue;
      }
      const text = await this.#part(part, index === 0);
      const isWhole = part.type === 'text' || part.isQuoted;
      if (isWhole) {
        add(part.isQuoted ? literal(text) : text);
        continue;
      }
      const separators = this.variables.get('IFS') ?? ' \t\n';
      const pieces =
        separators === '' ? [text] : text.split(new RegExp(`[${separators.replace(/[\\\]^-]/g, '\\$&')}]+`));
      for (const [at, piece] of pieces.entries()) {
        if (at > 0 && current !== undefined) {
          fields.push(current);
          current = undefined;
        }
        if (piece !== '') add(piece);
      }
    }
    // An empty pair of quotes is a field, an empty variable is none.
    return current === undefined ? fields : [...fields, current];
  }

  /** One text, in which characters that were quoted are marked. */
  async #text(word: Word): Promise<string> {
    let text = '';
    for (const [index, part] of word.entries()) {
      const value = await this.#part(part, index === 0);
      text += part.isQuoted ? literal(value) : value;
    }
    return text;
  }

  async #part(part: WordPart, isFirst: boolean): Promise<string> {
    switch (part.type) {
      case 'text': {
        const home = this.variables.get('HOME') ?? '/';
        return isFirst && !part.isQuoted ? part.text.replace(/^~(?=\/|$)/, home) : part.text;
      }
      case 'parameter':
        return await this.#parameter(part);
      case 'sum':
        return String(sumOf(withoutMarks(await this.#text(part.text)), (name) => this.variables.get(name) ?? '0'));
      case 'commands':
        return await this.#outputOf(part.list);
    }
  }

  async #outputOf(list: List): Promise<string> {
    const { reader, writer } = pipe();
    const child = this.#fork((shell) => shell.run(list), new Map([[1, writer]]));
    const parts: Uint8Array[] = [];
    for (;;) {
      const part = await this.process.wait(reader.read());
      if (!part) break;
      parts.push(part);
    }
    this.#substituted = await this.#waitFor(child);
    return decodeRaw(Buffer.concat(parts)).replace(/\n+$/, '').replaceAll('\0', '');
  }

  async #parameter({ name, operator, operand }: Extract<WordPart, { type: 'parameter' }>): Promise<string> {
    const value = this.#value(name);
    if (operator === undefined) return value ?? '';
    if (operator === 'length') return String((value ?? '').length);
    const other = async () => await this.#text(operand ?? []);
    const isUnset = operator.startsWith(':') ? (value ?? '') === '' : value === undefined;
    switch (operator.replace(':', '')) {
      case '-':
        return isUnset ? withoutMarks(await other()) : (value ?? '');
      case '+':
        return isUnset ? '' : withoutMarks(await other());
      case '=':
        if (isUnset) this.variables.set(name, withoutMarks(await other()));
        return this.#value(name) ?? '';
      case '?':
        if (isUnset) throw new ProcessEnd(2);
        return value ?? '';
      default:
        return trimmed(value ?? '', operator, await other());
    }
  }

  #value(name: string): string | undefined {
    if (/^[1-9]\d*$/.test(name)) return this.parameters[Number(name) - 1];
    switch (name) {
      case '0':
        return this.name;
      case '@':
      case '*':
        return this.parameters.join(' ');
      case '#':
        return String(this.parameters.length);
      case '?':
        return String(this.status);
      case '$':
        return String(this.pid);
      case '!':
        return String(this.lastBackground);
      case 'PPID':
        return String(this.process.parent);
      default:
        return this.variables.get(name);
    }
  }

  /** The names that a pattern stands for, sorted; the pattern itself when there are none. */
  #names(pattern: string): readonly string[] {
    const isAbsolute = pattern.startsWith('/');
    let found = [isAbsolute ? '' : undefined] as (string | undefined)[];
    for (const part of pattern.split('/').slice(isAbsolute ? 1 : 0)) {
      if (!hasWildcards(part)) {
        found = found.map((above) => (above === undefined ? withoutMarks(part) : `${above}/${withoutMarks(part)}`));
        continue;
      }
      const expression = globExpression(part, true);
      found = found.flatMap((above) => {
        const directory = this.process.machine.files.look(this.process.path(above === undefined ? '.' : `${above}/`));
        if (directory?.type !== 'directory') return [];
        return [...directory.children.keys()]
          .filter((name) => expression.test(name) && (!name.startsWith('.') || part.startsWith('.')))
          .sort()
          .map((name) => (above === undefined ? name : `${above}/${name}`));
      });
    }
    const names = found.filter(
      (name): name is string =>
        name !== undefined && this.process.machine.files.look(this.process.path(name), false) !== undefined,
    );
    return names.length > 0 ? names : [withoutMarks(pattern)];
  }
}

type Saved = readonly [fd: number, file: OpenFile | undefined];

const literal = (text: string) => text.replace(/[*?[\]\\!\u0001]/g, `${LITERAL}$&`);

function trimmed(value: string, operator: string, pattern: string): string {
  const expression = globExpression(pattern);
  const lengths = Array.from({ length: value.length + 1 }, (_, index) => index);
  const isAtEnd = operator.startsWith('%');
  const order = operator.length === 2 ? lengths.toReversed() : lengths;
  for (const length of order) {
    const part = isAtEnd ? value.slice(value.length - length) : value.slice(0, length);
    if (expression.test(part)) return isAtEnd ? value.slice(0, value.length - length) : value.slice(length);
  }
  return value;
}
