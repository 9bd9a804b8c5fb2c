import type { Chain, Command, List, Pipeline, Redirection, Word, WordPart } from './shell-syntax.ts';

/** The text ends within a command: more has to come. */
export class IncompleteScript extends Error {}
/** The text is no script, as far as this shell knows. */
export class ScriptProblem extends Error {}

const WORD_END = new Set([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']);
const CLOSERS = new Set(['then', 'else', 'elif', 'fi', 'do', 'done', 'esac', '}']);

/** Reads the shell's language as far as the scripts of core and of its tests need it: all of POSIX but here-documents and aliases. */
export class ShellParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Where the last command ended. */
  get position(): number {
    return this.#at;
  }

  /** The next line's commands; nothing at the end. */
  nextLine(): List | undefined {
    this.#skipBlank();
    if (this.#isEnd) return undefined;
    const list: Chain[] = [];
    do {
      const chain = this.#chain();
      list.push(chain);
      this.#skipSpaces();
    } while (!this.#isEnd && this.#text[this.#at - 1] !== '\n' && this.#peek !== '\n' && !this.#isEnd);
    if (this.#peek === '\n') this.#at += 1;
    return list;
  }

  /** Everything. */
  script(): List {
    const list = this.#list(() => this.#isEnd);
    if (!this.#isEnd) throw new ScriptProblem(`unexpected ${this.#text.slice(this.#at, this.#at + 10)}`);
    return list;
  }

  get #peek(): string {
    return this.#text[this.#at] ?? '';
  }

  get #isEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  #list(isOver: () => boolean): List {
    const list: Chain[] = [];
    for (this.#skipBlank(); !isOver(); this.#skipBlank()) {
      if (this.#isEnd) throw new IncompleteScript();
      list.push(this.#chain());
    }
    return list;
  }

  #chain(): Chain {
    const first = this.#pipeline();
    const rest: (readonly ['&&' | '||', Pipeline])[] = [];
    for (;;) {
      this.#skipSpaces();
      const operator = this.#text.slice(this.#at, this.#at + 2);
      if (operator !== '&&' && operator !== '||') break;
      this.#at += 2;
      this.#skipBlank();
      rest.push([operator, this.#pipeline()]);
    }
    const isBackground = this.#peek === '&';
    if (isBackground || (this.#peek === ';' && this.#text[this.#at + 1] !== ';')) this.#at += 1;
    return { first, rest, isBackground };
  }

  #pipeline(): Pipeline {
    this.#skipSpaces();
    const isNegated = this.#takeKeyword('!');
    const commands = [this.#command()];
    for (this.#skipSpaces(); this.#peek === '|' && this.#text[this.#at + 1] !== '|'; this.#skipSpaces()) {
      this.#at += 1;
      this.#skipBlank();
      commands.push(this.#command());
    }
    return { isNegated, commands };
  }

  #command(): Command {
    this.#skipSpaces();
    if (this.#isEnd) throw new IncompleteScript();
    const compound = this.#compound();
    if (!compound) return this.#simple();
    const redirections: Redirection[] = [];
    for (let one = this.#redirection(); one; one = this.#redirection()) redirections.push(one);
    return { ...compound, redirections };
  }

  #compound(): Command | undefined {
    const redirections: readonly Redirection[] = [];
    if (this.#peek === '(') {
      this.#at += 1;
      const list = this.#list(() => this.#peek === ')');
      this.#at += 1;
      return { type: 'subshell', list, redirections };
    }
    if (this.#takeKeyword('{')) {
      const list = this.#until('}');
      return { type: 'group', list, redirections };
    }
    if (this.#takeKeyword('if')) return this.#if();
    for (const keyword of ['while', 'until'])
      if (this.#takeKeyword(keyword)) {
        const condition = this.#until('do');
        return { type: 'while', isUntil: keyword === 'until', condition, body: this.#until('done'), redirections };
      }
    if (this.#takeKeyword('for')) return this.#for();
    if (this.#takeKeyword('case')) return this.#case();
    const name = /^([A-Za-z_][A-Za-z0-9_]*)[ \t]*\(\)/.exec(this.#text.slice(this.#at, this.#at + 80));
    if (!name) return undefined;
    this.#at += name[0].length;
    this.#skipBlank();
    return { type: 'function', name: name[1] ?? '', body: this.#command(), redirections };
  }

  #if(): Command {
    const branches: (readonly [List, List])[] = [];
    let otherwise: List | undefined;
    for (;;) {
      const condition = this.#until('then');
      const body = this.#list(() => ['elif', 'else', 'fi'].includes(this.#keyword()));
      branches.push([condition, body]);
      if (this.#takeKeyword('elif')) continue;
      if (this.#takeKeyword('else')) otherwise = this.#until('fi');
      else this.#takeKeyword('fi');
      return { type: 'if', branches, ...(otherwise && { otherwise }), redirections: [] };
    }
  }

  #for(): Command {
    this.#skipSpaces();
    const name = this.#plainWord();
    this.#skipBlank();
    let words: Word[] | undefined;
    if (this.#takeKeyword('in')) {
      words = [];
      for (this.#skipSpaces(); this.#peek !== ';' && this.#peek !== '\n'; this.#skipSpaces()) {
        if (this.#isEnd) throw new IncompleteScript();
        words.push(this.#word());
      }
    }
    this.#skipBlank();
    if (this.#peek === ';') this.#at += 1;
    this.#skipBlank();
    if (!this.#takeKeyword('do')) throw this.#isEnd ? new IncompleteScript() : new ScriptProblem('for without do');
    return { type: 'for', name, ...(words && { words }), body: this.#until('done'), redirections: [] };
  }

  #case(): Command {
    this.#skipSpaces();
    const word = this.#word();
    this.#skipBlank();
    if (!this.#takeKeyword('in')) throw this.#isEnd ? new IncompleteScript() : new ScriptProblem('case without in');
    const items: (readonly [readonly Word[], List])[] = [];
    for (this.#skipBlank(); !this.#takeKeyword('esac'); this.#skipBlank()) {
      if (this.#isEnd) throw new IncompleteScript();
      if (this.#peek === '(') this.#at += 1;
      const patterns: Word[] = [];
      for (;;) {
        this.#skipSpaces();
        patterns.push(this.#word());
        this.#skipSpaces();
        if (this.#isEnd) throw new IncompleteScript();
        if (this.#text[this.#at++] === ')') break;
      }
      const body = this.#list(() => this.#text.startsWith(';;', this.#at) || this.#keyword() === 'esac');
      if (this.#text.startsWith(';;', this.#at)) this.#at += 2;
      items.push([patterns, body]);
    }
    return { type: 'case', word, items, redirections: [] };
  }

  #simple(): Command {
    const assignments: (readonly [string, Word])[] = [];
    const words: Word[] = [];
    const redirections: Redirection[] = [];
    for (this.#skipSpaces(); ; this.#skipSpaces()) {
      const redirection = this.#redirection();
      if (redirection) {
        redirections.push(redirection);
        continue;
      }
      if (this.#isEnd || WORD_END.has(this.#peek)) break;
      const name =
        words.length === 0 ? /^([A-Za-z_][A-Za-z0-9_]*)=/.exec(this.#text.slice(this.#at, this.#at + 80)) : null;
      if (name) {
        this.#at += name[0].length;
        assignments.push([name[1] ?? '', this.#word()]);
      } else words.push(this.#word());
    }
    if (assignments.length + words.length + redirections.length === 0)
      throw new ScriptProblem(`unexpected ${JSON.stringify(this.#text.slice(this.#at, this.#at + 20))}`);
    return { type: 'simple', assignments, words, redirections };
  }

  #redirection(): Redirection | undefined {
    this.#skipSpaces();
    const found = /^(\d*)(>>|>&|<&|>|<)/.exec(this.#text.slice(this.#at, this.#at + 8));
    if (!found) return undefined;
    const [all, digits = '', operator = ''] = found;
    this.#at += all.length;
    this.#skipSpaces();
    const fd = digits === '' ? (operator.startsWith('<') ? 0 : 1) : Number(digits);
    return { fd, operator: operator as Redirection['operator'], target: this.#word() };
  }

  #until(keyword: string): List {
    const list = this.#list(() => this.#keyword() === keyword);
    this.#takeKeyword(keyword);
    return list;
  }

  /** The word here, when it closes what is open. */
  #keyword(): string {
    const [word = ''] = /^(?:[a-z]+|[{}!])/.exec(this.#text.slice(this.#at, this.#at + 8)) ?? [];
    const after = this.#text[this.#at + word.length] ?? ' ';
    return CLOSERS.has(word) && (WORD_END.has(after) || after === '}') ? word : '';
  }

  #takeKeyword(keyword: string): boolean {
    if (!this.#text.startsWith(keyword, this.#at)) return false;
    const after = this.#text[this.#at + keyword.length];
    if (after !== undefined && !WORD_END.has(after)) return false;
    this.#at += keyword.length;
    return true;
  }

  #plainWord(): string {
    const [word = ''] = /^[A-Za-z0-9_]+/.exec(this.#text.slice(this.#at)) ?? [];
    this.#at += word.length;
    return word;
  }

  #skipSpaces(): void {
    for (;;) {
      if (this.#peek === ' ' || this.#peek === '\t') this.#at += 1;
      else if (this.#text.startsWith('\\\n', this.#at)) this.#at += 2;
      else if (this.#peek === '#' && /^$|\s|;/.test(this.#text[this.#at - 1] ?? '')) {
        const end = this.#text.indexOf('\n', this.#at);
        this.#at = end === -1 ? this.#text.length : end;
      } else return;
    }
  }

  #skipBlank(): void {
    for (this.#skipSpaces(); this.#peek === '\n'; this.#skipSpaces()) this.#at += 1;
  }

  /** @param isOver where the word ends, besides at what ends every word */
  #word(isOver = (character: string) => WORD_END.has(character)): Word {
    const parts: WordPart[] = [];
    let text = '';
    const flush = () => {
      if (text !== '') parts.push({ type: 'text', text, isQuoted: false });
      text = '';
    };
    while (!this.#isEnd && !isOver(this.#peek)) {
      const character = this.#peek;
      if (character === "'") {
        flush();
        const end = this.#text.indexOf("'", this.#at + 1);
        if (end === -1) throw new IncompleteScript();
        parts.push({ type: 'text', text: this.#text.slice(this.#at + 1, end), isQuoted: true });
        this.#at = end + 1;
      } else if (character === '"') {
        flush();
        this.#at += 1;
        parts.push({ type: 'text', text: '', isQuoted: true }, ...this.#quoted());
      } else if (character === '\\') {
        flush();
        const next = this.#text[this.#at + 1];
        if (next === undefined) throw new IncompleteScript();
        if (next !== '\n') parts.push({ type: 'text', text: next, isQuoted: true });
        this.#at += 2;
      } else if (character === '$') {
        flush();
        parts.push(this.#dollar(false));
      } else {
        text += character;
        this.#at += 1;
      }
    }
    flush();
    return parts;
  }

  /** What stands between double quotes. */
  #quoted(): readonly WordPart[] {
    const parts: WordPart[] = [];
    let text = '';
    const flush = () => {
      if (text !== '') parts.push({ type: 'text', text, isQuoted: true });
      text = '';
    };
    for (; this.#peek !== '"'; ) {
      if (this.#isEnd) throw new IncompleteScript();
      if (this.#peek === '\\') {
        const next = this.#text[this.#at + 1] ?? '';
        if (next !== '\n') text += '$`"\\'.includes(next) ? next : `\\${next}`;
        this.#at += 2;
      } else if (this.#peek === '$') {
        flush();
        parts.push(this.#dollar(true));
      } else {
        text += this.#peek;
        this.#at += 1;
      }
    }
    flush();
    this.#at += 1;
    return parts;
  }

  #dollar(isQuoted: boolean): WordPart {
    if (this.#text.startsWith('$((', this.#at)) {
      const end = this.#text.indexOf('))', this.#at);
      if (end === -1) throw new IncompleteScript();
      const inner = new ShellParser(this.#text.slice(this.#at + 3, end));
      this.#at = end + 2;
      return { type: 'sum', text: inner.#word(() => false), isQuoted };
    }
    if (this.#text.startsWith('$(', this.#at)) {
      this.#at += 2;
      const list = this.#list(() => this.#peek === ')');
      this.#at += 1;
      return { type: 'commands', list, isQuoted };
    }
    if (this.#text.startsWith('${', this.#at)) return this.#braced(isQuoted);
    const [, name] = /^\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])/.exec(this.#text.slice(this.#at, this.#at + 80)) ?? [];
    if (name === undefined) {
      this.#at += 1;
      return { type: 'text', text: '$', isQuoted };
    }
    this.#at += name.length + 1;
    return { type: 'parameter', name, isQuoted };
  }

  #braced(isQuoted: boolean): WordPart {
    const found = /^\$\{(#?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!])(:?[-+=?]|%%|%|##|#)?/.exec(
      this.#text.slice(this.#at),
    );
    if (!found) throw new ScriptProblem('bad substitution');
    const [all, length = '', name = '', operator] = found;
    this.#at += all.length;
    const operand = operator === undefined ? undefined : this.#word((character) => character === '}');
    if (this.#isEnd) throw new IncompleteScript();
    this.#at += 1;
    if (length !== '') return { type: 'parameter', name, operator: 'length', isQuoted };
    return { type: 'parameter', name, isQuoted, ...(operator && { operator }), ...(operand && { operand }) };
  }
}
