export interface KeyPosition {
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

type Path = readonly (string | number)[];

/**
 * Where each key and each list item of a TOML document stands: the parser tells that for syntax errors only.
 * The text must be valid TOML; keys of `[[lists]]` count their tables from 0.
 */
export class KeyPositions {
  readonly #text: string;
  readonly #found = new Map<string, number>();
  readonly #tables = new Map<string, number>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    let table: Path = [];
    for (this.#skip(true); this.#at < text.length; this.#skip(true)) {
      if (text[this.#at] === '[') table = this.#header();
      else this.#assignment(table);
    }
  }

  /** Position of the longest part of the path that is in the text. */
  of(path: Path): KeyPosition | undefined {
    for (let length = path.length; length > 0; length -= 1) {
      const at = this.#found.get(keyOf(path.slice(0, length)));
      if (at !== undefined) return this.#position(at);
    }
    return undefined;
  }

  #position(at: number): KeyPosition {
    const before = this.#text.slice(0, at).split('\n');
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }

  #header(): Path {
    const isList = this.#text[this.#at + 1] === '[';
    this.#at += isList ? 2 : 1;
    const at = this.#at;
    const path = this.#resolve(this.#dotted([]));
    this.#at = this.#text.indexOf(']', this.#at) + (isList ? 2 : 1);
    for (let length = 1; length < path.length; length += 1) this.#note(path.slice(0, length), at);
    if (!isList) return this.#note(path, at);
    const index = (this.#tables.get(keyOf(path)) ?? -1) + 1;
    this.#tables.set(keyOf(path), index);
    this.#note(path, at);
    return this.#note([...path, index], at);
  }

  /** `[a.b]` below `[[a]]` is a part of the last table of the list. */
  #resolve(path: Path): Path {
    let resolved: Path = [];
    for (const [position, part] of path.entries()) {
      resolved = [...resolved, part];
      const index = this.#tables.get(keyOf(resolved));
      if (index !== undefined && position < path.length - 1) resolved = [...resolved, index];
    }
    return resolved;
  }

  #assignment(table: Path): void {
    const at = this.#at;
    const path = this.#dotted(table);
    for (let length = table.length + 1; length <= path.length; length += 1) this.#note(path.slice(0, length), at);
    this.#skip(false);
    this.#at += 1; // =
    this.#skip(false);
    this.#value(path);
  }

  #value(path: Path): void {
    const first = this.#text[this.#at];
    if (first === '"' || first === "'") this.#string();
    else if (first === '[') this.#list(path);
    else if (first === '{') this.#inlineTable(path);
    else while (this.#at < this.#text.length && !/[,\]}#\n]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #list(path: Path): void {
    this.#at += 1;
    for (let index = 0; ; index += 1) {
      this.#skip(true);
      if (this.#text[this.#at] === ',') this.#at += 1;
      this.#skip(true);
      if (this.#at >= this.#text.length || this.#text[this.#at] === ']') break;
      this.#note([...path, index], this.#at);
      this.#value([...path, index]);
    }
    this.#at += 1;
  }

  #inlineTable(path: Path): void {
    this.#at += 1;
    for (;;) {
      this.#skip(true);
      if (this.#text[this.#at] === ',') this.#at += 1;
      this.#skip(true);
      if (this.#at >= this.#text.length || this.#text[this.#at] === '}') break;
      this.#assignment(path);
    }
    this.#at += 1;
  }

  #dotted(prefix: Path): Path {
    const path = [...prefix];
    for (;;) {
      this.#skip(false);
      const at = this.#at;
      const first = this.#text[at];
      if (first === '"' || first === "'") {
        this.#string();
        const quoted = this.#text.slice(at, this.#at);
        path.push(first === '"' ? unescaped(quoted) : quoted.slice(1, -1));
      } else {
        while (/[A-Za-z0-9_-]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
        if (this.#at === at) this.#at += 1; // not TOML: go on all the same
        path.push(this.#text.slice(at, this.#at));
      }
      this.#skip(false);
      if (this.#text[this.#at] !== '.') return path;
      this.#at += 1;
    }
  }

  /** Past a string of any of the four kinds. */
  #string(): void {
    const quote = this.#text[this.#at] ?? '';
    const triple = quote.repeat(3);
    const isLong = this.#text.startsWith(triple, this.#at);
    const end = isLong ? triple : quote;
    this.#at += end.length;
    while (this.#at < this.#text.length && !this.#text.startsWith(end, this.#at)) {
      this.#at += quote === '"' && this.#text[this.#at] === '\\' ? 2 : 1;
    }
    this.#at += end.length;
    if (!isLong) return;
    // Up to two quotes may stand right before the end of a long string.
    while (this.#text[this.#at] === quote) this.#at += 1;
  }

  #skip(acrossLines: boolean): void {
    for (;;) {
      const character = this.#text[this.#at];
      if (character === '#' && acrossLines) {
        const end = this.#text.indexOf('\n', this.#at);
        this.#at = end === -1 ? this.#text.length : end;
      } else if (
        character === ' ' ||
        character === '\t' ||
        (acrossLines && (character === '\n' || character === '\r'))
      ) {
        this.#at += 1;
      } else {
        return;
      }
    }
  }

  #note(path: Path, at: number): Path {
    const key = keyOf(path);
    if (!this.#found.has(key)) this.#found.set(key, at);
    return path;
  }
}

function keyOf(path: Path): string {
  return JSON.stringify(path.map(String));
}

function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1); // an escape that only TOML knows: the position is then that of the table
  }
}
