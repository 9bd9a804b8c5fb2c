import type { Node, ParseError } from 'jsonc-parser';
import {
  type ConfigEditor,
  ConfigSyntaxError,
  type ConfigTable,
  type ConfigValue,
  type KeyPath,
  lineEndOf,
} from './config-editor.ts';
import { getNodeValue, parseTree, printParseErrorCode } from './jsonc.ts';

/**
 * JSON, with the comments and trailing commas that most clients allow. `modify` of jsonc-parser 3.3.1 would format the person's other entries
 * anew and put our entry before their comments, so that taking it out would not give the bytes back.
 */
export const jsonEditor: ConfigEditor = {
  read(text) {
    const root = rootOf(text);
    return root ? getNodeValue(root) : {};
  },

  set(text, path, table) {
    const root = rootOf(text);
    if (!root) {
      const before = text.trim() === '' ? '' : text.trimEnd() + lineEndOf(text);
      return `${before}${formatted(nested(path, table), { eol: lineEndOf(text), unit: '  ' }, '')}${lineEndOf(text)}`;
    }
    let holder = root;
    for (const [depth, key] of path.entries()) {
      const member = memberOf(holder, key);
      if (!member) return inserted(text, holder, key, nested(path.slice(depth + 1), table));
      holder = valueOf(member);
    }
    for (const [key, value] of Object.entries(table)) text = withMember(text, path, key, value);
    return text;
  },

  unset(text, path, levels) {
    const { node: holder } = find(text, path.slice(0, -1)) ?? {};
    const member = holder && memberOf(holder, path.at(-1) ?? '');
    if (!member) return text;
    const without = removed(text, holder, member);
    if (levels === 0 || path.length < 2) return without;
    const above = find(without, path.slice(0, -1));
    const isEmpty = above && /^\{\s*\}$/.test(textOf(without, above.node));
    return isEmpty ? jsonEditor.unset(without, path.slice(0, -1), levels - 1) : without;
  },

  snippet: (path, table) => formatted(nested(path, table), { eol: '\n', unit: '  ' }, ''),
};

/** The text with these in the list at that path, after what is there. */
export function jsonInclude(text: string, path: KeyPath, values: readonly string[]): string {
  const found = find(text, path);
  if (!found) return jsonEditor.set(text, path.slice(0, -1), { [path.at(-1) ?? '']: values });
  const { node: list } = found;
  if (list.type !== 'array') return text;
  const present = list.children?.map((item) => item.value as unknown) ?? [];
  const missing = values.filter((value) => !present.includes(value));
  for (const value of missing) text = withItem(text, path, JSON.stringify(value));
  return text;
}

/** The text without these in the list at that path, and without up to `levels` things around it that are empty then. */
export function jsonExclude(text: string, path: KeyPath, values: readonly string[], levels: number): string {
  for (const value of values) {
    const list = find(text, path)?.node;
    const item = list?.type === 'array' ? list.children?.find((one) => one.value === value) : undefined;
    if (list && item) text = removed(text, list, item);
  }
  const list = find(text, path)?.node;
  const isEmpty = list !== undefined && levels > 0 && /^\[\s*\]$/.test(textOf(text, list));
  return isEmpty ? jsonEditor.unset(text, path, levels - 1) : text;
}

function rootOf(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  if (first) {
    const before = text.slice(0, first.offset).split('\n');
    const words = printParseErrorCode(first.error)
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase();
    throw new ConfigSyntaxError(words, before.length, (before.at(-1)?.length ?? 0) + 1);
  }
  return root;
}

function find(text: string, path: KeyPath): { readonly node: Node } | undefined {
  let node = rootOf(text);
  for (const key of path) {
    const member = node && memberOf(node, key);
    node = member && valueOf(member);
  }
  return node && { node };
}

/** The last of that name, as every parser takes it. */
function memberOf(object: Node, key: string): Node | undefined {
  if (object.type !== 'object') return undefined;
  return object.children?.findLast((member) => member.children?.[0]?.value === key);
}

function valueOf(member: Node): Node {
  const value = member.children?.[1];
  if (!value) throw new Error('A member without a value.');
  return value;
}

const textOf = (text: string, { offset, length }: Node): string => text.slice(offset, offset + length);
const endOf = ({ offset, length }: Node): number => offset + length;

function nested(path: KeyPath, value: ConfigValue): ConfigValue {
  return path.reduceRight<ConfigValue>((below, key) => ({ [key]: below }), value);
}

interface Style {
  readonly eol: string;
  readonly unit: string;
}

function styleOf(text: string): Style {
  const unit = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  return { eol: lineEndOf(text), unit: unit.startsWith('\t') ? '\t' : unit };
}

/** A table has a line for each member, a list stands on one line. */
function formatted(value: ConfigValue, style: Style, indent: string): string {
  if (Array.isArray(value)) return `[${value.map((item: ConfigValue) => formatted(item, style, indent)).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const deeper = indent + style.unit;
  const members = Object.entries(value as ConfigTable).map(
    ([key, member]) => `${deeper}${JSON.stringify(key)}: ${formatted(member, style, deeper)}`,
  );
  return `{${style.eol}${members.join(`,${style.eol}`)}${style.eol}${indent}}`;
}

function onOneLine(value: ConfigValue, isSpaced: boolean): string {
  if (!isSpaced) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: ConfigValue) => onOneLine(item, true)).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value as ConfigTable).map(
    ([key, member]) => `${JSON.stringify(key)}: ${onOneLine(member, true)}`,
  );
  return `{ ${members.join(', ')} }`;
}

const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';

function inserted(text: string, object: Node, key: string, value: ConfigValue): string {
  if (object.type !== 'object') return text;
  const [first] = object.children ?? [];
  const body = textOf(text, object);
  if (first && !body.includes('\n')) {
    const isSpaced = /^"(?:[^"\\]|\\.)*"\s*:\s/.test(textOf(text, first));
    return appended(text, object, `${JSON.stringify(key)}:${isSpaced ? ' ' : ''}${onOneLine(value, isSpaced)}`);
  }
  const style = styleOf(text);
  const isAligned = first && text.slice(object.offset, first.offset).includes('\n');
  const indent = isAligned ? indentAt(text, first.offset) : indentAt(text, object.offset) + style.unit;
  return appended(text, object, `${JSON.stringify(key)}: ${formatted(value, style, indent)}`, indent);
}

/** The text with one more member or item at the end, on a line of its own where an indentation is given. */
function appended(text: string, holder: Node, item: string, indent?: string): string {
  const last = holder.children?.at(-1);
  const close = endOf(holder) - 1;
  const inner = text.slice(0, close).trimEnd(); // up to the last item, comma or comment
  const comma = last && commaAfter(text, endOf(last), close);
  const eol = lineEndOf(text);
  const isSpaced = indent !== undefined || /\n|[,:] /.test(text.trim());
  const lead = indent === undefined ? (last && isSpaced ? ' ' : '') : eol + indent;
  const trail = text.slice(inner.length, close);
  const isOnOwnLine = trail.includes('\n');
  const closing = indent === undefined || isOnOwnLine ? trail : eol + indentAt(text, holder.offset);
  const rest = `${lead}${item}${comma === undefined || !last ? '' : ','}${closing}${text.slice(close)}`;
  if (!last || comma !== undefined) return inner + rest;
  return `${inner.slice(0, endOf(last))},${inner.slice(endOf(last))}${rest}`;
}

/** Where the comma after an item is, if there is one before that end. */
function commaAfter(text: string, from: number, to: number): number | undefined {
  const between = /^(?:\s|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/.exec(text.slice(from, to))?.[0] ?? '';
  const next = from + between.length;
  return next < to && text[next] === ',' ? next : undefined;
}

function removed(text: string, holder: Node, item: Node): string {
  const siblings = holder.children ?? [];
  const index = siblings.indexOf(item);
  const start = text.slice(0, item.offset).trimEnd().length;
  const comma = commaAfter(text, endOf(item), endOf(holder) - 1);
  const previous = siblings[index - 1];
  let without: string;
  if (comma !== undefined) {
    without = text.slice(0, start) + text.slice(endOf(item), comma) + text.slice(comma + 1);
  } else {
    const before = previous && commaAfter(text, endOf(previous), item.offset);
    const head =
      before === undefined
        ? text.slice(0, start)
        : text.slice(0, before) + text.slice(before + 1, Math.max(start, before + 1));
    without = head + text.slice(endOf(item));
  }
  if (siblings.length > 1) return without;
  const close = without.length - (text.length - endOf(holder)) - 1;
  const isBlank = without.slice(holder.offset + 1, close).trim() === '';
  return isBlank ? without.slice(0, holder.offset + 1) + without.slice(close) : without;
}

function withMember(text: string, path: KeyPath, key: string, value: ConfigValue): string {
  const { node: object } = find(text, path) ?? {};
  if (!object) return text;
  const member = memberOf(object, key);
  if (!member) return inserted(text, object, key, value);
  const old = valueOf(member);
  if (JSON.stringify(getNodeValue(old)) === JSON.stringify(value)) return text;
  const isSpaced = /[,:{[]\s/.test(textOf(text, object));
  return text.slice(0, old.offset) + onOneLine(value, isSpaced) + text.slice(endOf(old));
}

function withItem(text: string, path: KeyPath, item: string): string {
  const { node: list } = find(text, path) ?? {};
  if (!list) return text;
  const [first] = list.children ?? [];
  const isAligned = first && text.slice(list.offset, first.offset).includes('\n');
  return appended(text, list, item, isAligned ? indentAt(text, first.offset) : undefined);
}
