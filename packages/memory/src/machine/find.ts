import { globExpression } from './glob-expression.ts';
import type { FileNode } from './memory-files.ts';
import type { MachineProcess } from './machine-process.ts';
import { runProgram } from './run-program.ts';

interface Place {
  readonly path: string;
  readonly name: string;
  readonly node: FileNode;
  isPruned: boolean;
}

type Step = (place: Place) => boolean | Promise<boolean>;

const TYPES: Readonly<Record<string, FileNode['type']>> = { f: 'file', d: 'directory', l: 'symlink', p: 'special' };

/** `find [PATH] [EXPRESSION]` with `-name`, `-type`, `-prune`, `-print`, `-print0`, `-exec … ;`, `-exec … {} +`, `!`, `-o` and brackets. */
export async function find(process: MachineProcess, args: readonly string[]): Promise<number> {
  const first = args.findIndex((arg) => /^[-!(]/.test(arg));
  const starts = first === -1 ? args : args.slice(0, first);
  const expression = new Expression(process, first === -1 ? [] : args.slice(first));
  for (const start of starts.length === 0 ? ['.'] : starts) {
    const node = process.machine.files.look(process.path(start), false);
    if (node)
      await walk({ path: start, name: start.slice(start.lastIndexOf('/') + 1), node, isPruned: false }, expression);
    else await process.write(2, `find: ${start}: No such file or directory\n`);
  }
  await expression.finish();
  return 0;
}

async function walk(place: Place, expression: Expression): Promise<void> {
  await expression.test(place);
  const { node, path, isPruned } = place;
  if (node.type !== 'directory' || isPruned) return;
  for (const [name, child] of node.children)
    await walk({ path: `${path}/${name}`, name, node: child, isPruned: false }, expression);
}

class Expression {
  readonly #process: MachineProcess;
  readonly #words: readonly string[];
  #at = 0;
  /** What `-exec … +` has gathered. */
  readonly #gathered: { readonly command: readonly string[]; readonly paths: string[] }[] = [];
  #hasAction = false;
  readonly #step: Step;

  constructor(process: MachineProcess, words: readonly string[]) {
    this.#process = process;
    this.#words = words;
    this.#step = words.length === 0 ? () => true : this.#either();
  }

  async test(place: Place): Promise<void> {
    if ((await this.#step(place)) && !this.#hasAction) await this.#process.write(1, `${place.path}\n`);
  }

  async finish(): Promise<void> {
    for (const { command, paths } of this.#gathered) if (paths.length > 0) await this.#run(command, paths);
  }

  #either(): Step {
    const choices = [this.#all()];
    while (this.#words[this.#at] === '-o') {
      this.#at += 1;
      choices.push(this.#all());
    }
    return async (place) => {
      for (const choice of choices) if (await choice(place)) return true;
      return false;
    };
  }

  #all(): Step {
    const steps: Step[] = [];
    while (this.#at < this.#words.length && this.#words[this.#at] !== '-o' && this.#words[this.#at] !== ')')
      steps.push(this.#one());
    return async (place) => {
      for (const step of steps) if (!(await step(place))) return false;
      return true;
    };
  }

  #one(): Step {
    const word = this.#next();
    switch (word) {
      case '!': {
        const step = this.#one();
        return async (place) => !(await step(place));
      }
      case '(': {
        const step = this.#either();
        this.#next();
        return step;
      }
      case '-name': {
        const expression = globExpression(this.#next());
        return ({ name }) => expression.test(name);
      }
      case '-type': {
        const type = TYPES[this.#next()];
        return ({ node }) => node.type === type;
      }
      case '-prune':
        return (place) => (place.isPruned = true);
      case '-exec':
        return this.#exec();
      default:
        this.#hasAction = true;
        return async ({ path }) => {
          await this.#process.write(1, `${path}${word === '-print0' ? '\0' : '\n'}`);
          return true;
        };
    }
  }

  #exec(): Step {
    this.#hasAction = true;
    const command: string[] = [];
    for (let word = this.#next(); word !== ';' && word !== '+'; word = this.#next()) command.push(word);
    if (this.#words[this.#at - 1] === ';')
      return async ({ path }) =>
        (await this.#run(
          command.map((word) => word.replace('{}', path)),
          [],
        )) === 0;
    const gathered = { command: command.filter((word) => word !== '{}'), paths: [] as string[] };
    this.#gathered.push(gathered);
    return ({ path }) => gathered.paths.push(path) > 0;
  }

  async #run([program = '', ...args]: readonly string[], paths: readonly string[]): Promise<number> {
    const { machine } = this.#process;
    const all = [...args, ...paths];
    const child = machine.start(this.#process, [program, ...all], (one) => runProgram(one, program, all));
    return await this.#process.wait(child.exit);
  }

  #next(): string {
    this.#at += 1;
    return this.#words[this.#at - 1] ?? '+';
  }
}
