import { LitterboxError, shown, visible } from '@litterbox/core';
import {
  type ConfigEditor,
  ConfigSyntaxError,
  type ConfigTable,
  isSameDocument,
  type KeyPath,
  valueAt,
  withoutKey,
  withTable,
} from './config-editor.ts';
import { type ConfigFile, readConfigFile, writeConfigFile } from './config-file.ts';
import { jsonExclude, jsonInclude } from './edit-json.ts';
import { moved, type Receipt, type Receipts, undoOf, undone } from './receipts.ts';

/** What a receipt knows that a document does not show. */
type Facts = Pick<Receipt, 'createdLevels' | 'added'>;

/** One thing of ours in one configuration file: put in, taken out, looked for. */
export interface Change {
  /** Tells it from others in the same file. */
  readonly id: string;
  isIn(document: unknown): boolean;
  /** Whether anything is left of what an installation put in. */
  remains(document: unknown, facts: Facts): boolean;
  /** What putting it in would add to the document. */
  factsOf(document: unknown): Facts;
  apply(text: string): string;
  isApplied(before: unknown, after: unknown): boolean;
  revert(text: string, facts: Facts): string;
  isReverted(before: unknown, after: unknown, facts: Facts): boolean;
  /** For a person to put in by hand. */
  readonly snippet: string;
  /** The file is for changes of this kind alone: with the last of them it goes. */
  readonly ownsFile?: boolean;
}

/** A table under a name of ours. */
export function tableChange(id: string, editor: ConfigEditor, path: KeyPath, table: ConfigTable): Change {
  const isIn = (document: unknown) => valueAt(document, path) !== undefined;
  return {
    id,
    isIn,
    remains: isIn,
    factsOf: (document) => ({ createdLevels: missingLevels(document, path) }),
    apply: (text) => editor.set(text, path, table),
    isApplied: (before, after) => {
      const wanted = withTable(before, path, table);
      return wanted !== undefined && isSameDocument(after, wanted);
    },
    revert: (text, { createdLevels }) => editor.unset(text, path, createdLevels),
    isReverted: (before, after) => path.some((_, levels) => isSameDocument(after, withoutKey(before, path, levels))),
    snippet: editor.snippet(path, table),
  };
}

/** Words in a list in which a person may have words, too. JSON only. */
export function listChange(id: string, editor: ConfigEditor, path: KeyPath, values: readonly string[]): Change {
  const holder = path.slice(0, -1);
  const key = path.at(-1) ?? '';
  const listIn = (document: unknown): readonly unknown[] => {
    const list = valueAt(document, path);
    return Array.isArray(list) ? list : [];
  };
  const missing = (document: unknown) => values.filter((value) => !listIn(document).includes(value));
  const withList = (document: unknown, list: readonly unknown[]) =>
    withTable(document, holder, { [key]: list as readonly string[] });
  return {
    id,
    isIn: (document) => missing(document).length === 0,
    remains: (document, { added = [] }) => added.some((value) => listIn(document).includes(value)),
    factsOf: (document) => ({
      createdLevels: missingLevels(document, [...path, '']),
      added: missing(document),
    }),
    apply: (text) => jsonInclude(text, path, values),
    isApplied: (before, after) => {
      const wanted = withList(before, [...listIn(before), ...missing(before)]);
      return wanted !== undefined && isSameDocument(after, wanted);
    },
    revert: (text, { createdLevels, added = [] }) => jsonExclude(text, path, added, createdLevels),
    isReverted: (before, after, { added = [] }) => {
      const rest = withList(
        before,
        listIn(before).filter((value) => !added.includes(String(value))),
      );
      return (
        isSameDocument(after, rest) || path.some((_, levels) => isSameDocument(after, withoutKey(before, path, levels)))
      );
    },
    snippet: editor.snippet(holder, { [key]: values }),
  };
}

function missingLevels(document: unknown, path: KeyPath): number {
  let levels = 0;
  for (let length = path.length - 1; length > 0 && valueAt(document, path.slice(0, length)) === undefined; length -= 1)
    levels += 1;
  return levels;
}

/** What would be done to one file. Nothing has happened yet. */
export interface Plan {
  readonly file: ConfigFile;
  readonly before: string | undefined;
  /** Absent: the file goes. */
  readonly after: string | undefined;
  readonly isChanged: boolean;
  carryOut(): Promise<void>;
}

/** Makes the change for a document: where an entry stands may depend on what is there. */
export type ChangeOf = (document: unknown) => Change;

/** Where a change goes. */
export interface Place {
  readonly path: string;
  /** A directory that the file may not leave by links. */
  readonly within?: string;
  readonly editor: ConfigEditor;
  readonly receipts: Receipts;
}

/** @throws LitterboxError `CONFIG_SYNTAX`, `CONFIG_TYPE`, and what reading the file throws. */
export async function planInstall({ path, within, editor, receipts }: Place, changeOf: ChangeOf): Promise<Plan> {
  const file = await readConfigFile(path, within);
  const { text } = file;
  const present = text ?? '';
  const document = documentOf(file, editor, present);
  const change = changeOf(document);
  const key = keyOf(file, change);
  const found = await receipts.read(key);
  // What an earlier installation of ours did is taken back first, so that the receipt keeps telling what was there before it.
  const undoneText = found?.undo && undone(present, found.undo);
  const receipt = undoneText !== undefined || (found && change.remains(document, found)) ? found : undefined;
  const original = undoneText ?? present;
  const before = documentOf(file, editor, original);
  const after = change.apply(original);
  const made = readable(editor, after);
  if (made === undefined || !change.isApplied(before, made)) throw cannotEdit(file, change);
  const facts = change.factsOf(before);
  const isOthers = receipt !== undefined && undoneText === undefined; // somebody else changed the file since
  const next: Receipt = {
    path: file.target,
    isCreatedFile: receipt?.isCreatedFile ?? text === undefined,
    createdDirectories: receipt?.createdDirectories ?? file.missingDirectories,
    ...facts,
    ...(isOthers && {
      createdLevels: receipt.createdLevels,
      ...(facts.added && { added: [...(receipt.added ?? []), ...facts.added] }),
    }),
    ...(!isOthers && { undo: undoOf(original, after) }),
  };
  return {
    file,
    before: text,
    after,
    isChanged: after !== text,
    async carryOut() {
      await receipts.write(key, next); // first: a receipt for what did not happen fits no file
      await writeConfigFile(file, after, [], within === undefined ? 0o600 : 0o666);
    },
  };
}

/** Nothing if it is not in the file. Without a receipt only what bears our name goes. */
export async function planUninstall(
  { path, within, editor, receipts }: Place,
  changeOf: ChangeOf,
): Promise<Plan | undefined> {
  const file = await readConfigFile(path, within);
  const { text } = file;
  if (text === undefined) return undefined;
  const document = documentOf(file, editor, text);
  const change = changeOf(document);
  const key = keyOf(file, change);
  const receipt = await receipts.read(key);
  const facts = receipt ?? { createdLevels: 0 };
  if (!change.remains(document, facts)) return undefined;
  const exact = receipt?.undo && undone(text, receipt.undo);
  const isRight = (candidate: string) => {
    const made = readable(editor, candidate);
    return made !== undefined && change.isReverted(document, made, facts);
  };
  const candidates = [receipt?.undo && moved(text, receipt.undo), change.revert(text, facts)];
  const after = exact ?? candidates.find((candidate) => candidate !== undefined && isRight(candidate));
  if (after === undefined) throw cannotEdit(file, change, 'Take it out by hand');
  const isOurs = receipt?.isCreatedFile === true || (exact === undefined && change.ownsFile === true);
  const isLeftOver = isOurs && /^\s*(?:\{\s*\}\s*)?$/.test(after);
  return {
    file,
    before: text,
    after: isLeftOver ? undefined : after,
    isChanged: true,
    async carryOut() {
      await writeConfigFile(file, isLeftOver ? undefined : after, receipt?.createdDirectories);
      await receipts.remove(key);
    },
  };
}

/** @throws LitterboxError `CONFIG_SYNTAX` with the place. */
function documentOf(file: ConfigFile, editor: ConfigEditor, text: string): unknown {
  try {
    return editor.read(text);
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    const { message, line, column } = error;
    throw new LitterboxError(
      'CONFIG_SYNTAX',
      `${visible(file.path)}:${line}:${column} ${message}`,
      { operation: 'agent.read', hint: 'Correct that line; nothing was changed.', facts: { line, column } },
      { cause: error },
    );
  }
}

/** The document of a text that we made, or nothing if it is none. */
function readable(editor: ConfigEditor, text: string): unknown {
  try {
    return editor.read(text);
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return undefined;
    throw error;
  }
}

function cannotEdit(file: ConfigFile, { snippet }: Change, what = 'Put this in by hand'): LitterboxError {
  return new LitterboxError(
    'CONFIG_TYPE',
    `${shown(file.path)} has a form that cannot be edited safely; nothing was changed.`,
    { operation: 'agent.edit', hint: `${what}:\n${snippet.trimEnd()}`, facts: { snippet } },
  );
}

const keyOf = ({ target }: ConfigFile, { id }: Change): string => `${target}\0${id}`;
