import { isDeepStrictEqual } from 'node:util';

/** A value of a configuration file, as an entry of ours has them. */
export type ConfigValue = string | number | boolean | readonly ConfigValue[] | ConfigTable;
export interface ConfigTable {
  readonly [key: string]: ConfigValue;
}

/** Keys from the top of a document. */
export type KeyPath = readonly string[];

/**
 * Edits the text of a configuration file. Texts come without a byte order mark; a text without a document (empty, or comments
 * only) is an empty table. Nothing but what was asked for changes: comments, order, indentation and line ends stay. Whoever
 * calls reads both texts and compares: an editor that meets a form it does not know may give any text.
 */
export interface ConfigEditor {
  /** @throws ConfigSyntaxError */
  read(text: string): unknown;
  /** The text with the table at that path; members that it has besides ours stay. */
  set(text: string, path: KeyPath, table: ConfigTable): string;
  /** The text without what is at that path, and without up to `levels` tables around it if they are empty then. */
  unset(text: string, path: KeyPath, levels: number): string;
  /** What a person can paste where the text cannot be edited. */
  snippet(path: KeyPath, table: ConfigTable): string;
}

export class ConfigSyntaxError extends Error {
  readonly line: number;
  readonly column: number;

  /** Both from 1. */
  constructor(reason: string, line: number, column: number) {
    super(reason);
    this.line = line;
    this.column = column;
  }
}

export function isConfigTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** What is at that path of a document, or nothing. */
export function valueAt(document: unknown, path: KeyPath): unknown {
  let value = document;
  for (const key of path) {
    if (!isConfigTable(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** The document with that table merged in at that path; nothing where something that is no table is in the way. */
export function withTable(document: unknown, path: KeyPath, table: ConfigTable): unknown {
  if (!isConfigTable(document)) return undefined;
  const [key, ...rest] = path;
  if (key === undefined) return { ...document, ...table };
  const below = withTable(Object.hasOwn(document, key) ? document[key] : {}, rest, table);
  return below === undefined ? undefined : { ...document, [key]: below };
}

/** The document without what is at that path, and without up to `levels` tables around it if they are empty then. */
export function withoutKey(document: unknown, path: KeyPath, levels: number): unknown {
  if (!isConfigTable(document)) return document;
  const [key, ...rest] = path;
  if (key === undefined || !Object.hasOwn(document, key)) return document;
  const { [key]: value, ...others } = document;
  if (rest.length === 0) return others;
  const below = withoutKey(value, rest, levels);
  const isEmptied = isConfigTable(below) && Object.keys(below).length === 0 && rest.length <= levels;
  return isEmptied ? others : { ...document, [key]: below };
}

export const lineEndOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

export const isSameDocument = (one: unknown, other: unknown): boolean => isDeepStrictEqual(plain(one), plain(other));

/** Without what tells apart objects that were made in different ways, and whole numbers that were read from TOML and from elsewhere. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  if (!isConfigTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}
