import { parse, TomlError } from 'smol-toml';
import {
  type ConfigEditor,
  ConfigSyntaxError,
  type ConfigTable,
  type ConfigValue,
  isSameDocument,
  type KeyPath,
  lineEndOf,
  valueAt,
  withoutKey,
  withTable,
} from './config-editor.ts';

/**
 * TOML. Knows one form of an entry: a table with a header of its own, `[mcp_servers.litterbox]`. Where such a table begins and
 * ends is guessed line by line, and the parser tells which guess was right: brackets may stand in texts and lists as well.
 */
export const tomlEditor: ConfigEditor = {
  read(text) {
    try {
      return parse(text, { integersAsBigInt: true });
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const [first = ''] = error.message.split('\n');
      throw new ConfigSyntaxError(first.replace(/^Invalid TOML document: /, ''), error.line, error.column);
    }
  },

  set(text, path, table) {
    const before = tomlEditor.read(text);
    if (valueAt(before, path) === undefined) return appended(text, block(path, table, lineEndOf(text)));
    const wanted = withTable(before, path, table);
    return (
      blocks(text, path)
        .map(([start, end]) => text.slice(0, start) + updated(text.slice(start, end), table) + text.slice(end))
        .find((after) => isDocument(after, wanted)) ?? text
    );
  },

  unset(text, path, levels) {
    const before = tomlEditor.read(text);
    const wanted = withoutKey(before, path, 1 + levels); // a table without a header of its own goes with the last table below it
    const strict = withoutKey(before, path, 0);
    return (
      blocks(text, path)
        .map(([start, end]) => joined(text.slice(0, start), text.slice(end)))
        .find((after) => isDocument(after, wanted) || isDocument(after, strict)) ?? text
    );
  },

  snippet: (path, table) => block(path, table, '\n'),
};

function isDocument(text: string, wanted: unknown): boolean {
  try {
    return isSameDocument(tomlEditor.read(text), wanted);
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return false;
    throw error;
  }
}

function block(path: KeyPath, table: ConfigTable, eol: string): string {
  return tomlBlock(`[${path.map(keyText).join('.')}]`, table, eol);
}

/** A table under its header. */
export function tomlBlock(header: string, table: ConfigTable, eol = '\n'): string {
  const lines = Object.entries(table).map(([key, value]) => `${keyText(key)} = ${valueText(value)}`);
  return [header, ...lines, ''].join(eol);
}

const keyText = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));

/** JSON's texts and TOML's basic strings are the same but for one character. */
function valueText(value: ConfigValue): string {
  if (Array.isArray(value)) return `[${value.map((item: ConfigValue) => valueText(item)).join(', ')}]`;
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}

function appended(text: string, lines: string): string {
  const eol = lineEndOf(text);
  if (text.trim() === '') return text + lines;
  const ended = text.endsWith('\n') ? text : text + eol;
  const isApart = /\n[ \t]*\r?\n$/.test(ended);
  return ended + (isApart ? '' : eol) + lines;
}

/** Without the blank line that kept a table apart, if nothing or another one follows. */
function joined(before: string, after: string): string {
  const isBlankNext = after.trim() === '' || /^[ \t]*\r?\n/.test(after);
  return (isBlankNext ? before.replace(/(\n)[ \t]*\r?\n$/, '$1') : before) + after;
}

/** Where the table at that path may stand, with the tables below it: every header that could be its own, every end it could have. */
function blocks(text: string, path: KeyPath): readonly (readonly [start: number, end: number])[] {
  const part = (key: string) => {
    const escaped = key.replace(/[^A-Za-z0-9_-]/g, '\\$&');
    return `(?:${escaped}|"${escaped}"|'${escaped}')`;
  };
  const header = new RegExp(
    `^[ \\t]*\\[[ \\t]*${path.map(part).join('[ \\t]*\\.[ \\t]*')}[ \\t]*\\][ \\t]*(?:#.*)?\\r?$`,
    'gm',
  );
  const found: (readonly [number, number])[] = [];
  for (const { index } of text.matchAll(header)) {
    const next = /^[ \t]*\[/gm;
    next.lastIndex = text.indexOf('\n', index) + 1 || text.length;
    for (let match = next.exec(text); match; match = next.exec(text))
      found.push([index, ownEnd(text, index, match.index)]);
    found.push([index, ownEnd(text, index, text.length)]);
  }
  return found;
}

/** Comments and blank lines before the next header belong to what follows. */
function ownEnd(text: string, start: number, end: number): number {
  const lines = text.slice(start, end).split(/(?<=\n)/);
  while (lines.length > 1 && /^[ \t]*(?:#.*)?\r?\n?$/.test(lines.at(-1) ?? '')) lines.pop();
  return start + lines.join('').length;
}

/** A table's lines with our values; a value of several lines is not seen through, and the parser will say so. */
function updated(lines: string, table: ConfigTable): string {
  const eol = lineEndOf(lines);
  let text = lines.includes('\n') ? lines : lines + eol;
  for (const [key, value] of Object.entries(table)) {
    const line = new RegExp(`^([ \\t]*${keyText(key)}[ \\t]*=[ \\t]*)[^\\r\\n]*`, 'm');
    const made = valueText(value);
    text = line.test(text)
      ? text.replace(line, (whole, before: string) => (sameValue(whole, key, value) ? whole : before + made))
      : text.replace('\n', `\n${keyText(key)} = ${made}${eol}`);
  }
  return text;
}

function sameValue(line: string, key: string, value: ConfigValue): boolean {
  try {
    return isSameDocument(parse(line), { [key]: value });
  } catch {
    return false;
  }
}
