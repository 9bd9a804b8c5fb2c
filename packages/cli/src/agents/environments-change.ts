import type { Change } from './change.ts';
import { type ConfigTable, isConfigTable, isSameDocument } from './config-editor.ts';
import { tomlBlock, tomlEditor } from './edit-toml.ts';

const OURS = /^litterbox-/;
const BLOCK = /^(?=[ \t]*\[\[[ \t]*environments[ \t]*\]\])/m;
const LINES = /^(?:default|include_local)[ \t]*=.*(?:\r?\n|$)/gm;

type Environments = { readonly default?: unknown; readonly environments: readonly ConfigTable[] };

/**
 * A place for Codex to work in, in a file of such places: the first one is where Codex works, and this machine is none of them. A file in
 * which a person has places of their own is not edited: which of them is the first is theirs to say.
 */
export function environmentChange(id: string, table: ConfigTable): Change {
  const entry = { id, ...table };
  const block = tomlBlock('[[environments]]', entry);
  const head = `default = ${JSON.stringify(id)}\ninclude_local = false\n`;
  const isIn = (document: unknown) => ours(document)?.environments.some((one) => one['id'] === id) ?? false;
  return {
    id: `hands ${id}`,
    ownsFile: true,
    isIn,
    remains: isIn,
    factsOf: () => ({ createdLevels: 0 }),
    apply(text) {
      const found = ours(tomlEditor.read(text));
      if (!found) return text;
      if (found.environments.length === 0) return `${ended(text)}${head}\n${block}`;
      const parts = text.split(BLOCK);
      const at = parts.findIndex((part) => idOf(part) === id);
      return at === -1
        ? `${ended(text)}\n${block}`
        : parts.with(at, at === parts.length - 1 ? block : `${block}\n`).join('');
    },
    isApplied(before, after) {
      const found = ours(before);
      if (!found) return false;
      const others = found.environments.map((one) => (one['id'] === id ? entry : one));
      return isSameDocument(after, {
        default: found.default ?? id,
        include_local: false,
        environments: isIn(before) ? others : [...others, entry],
      });
    },
    revert(text) {
      const rest = ours(tomlEditor.read(text))?.environments.filter((one) => one['id'] !== id) ?? [];
      const [top = '', ...blocks] = text.split(BLOCK).filter((part) => idOf(part) !== id);
      if (rest.length === 0) return top.replaceAll(LINES, '').replace(/^\s+$/, '');
      const first = `default = ${JSON.stringify(rest[0]?.['id'])}\n`;
      return [top.replaceAll(LINES, (line) => (line.includes(JSON.stringify(id)) ? first : line)), ...blocks]
        .join('')
        .replace(/\n{2,}$/, '\n');
    },
    isReverted(before, after) {
      const found = ours(before);
      if (!found) return false;
      const environments = found.environments.filter((one) => one['id'] !== id);
      if (environments.length === 0) return isSameDocument(after, {});
      const first = found.default === id ? environments[0]?.['id'] : found.default;
      return isSameDocument(after, { default: first, include_local: false, environments });
    },
    snippet: `${head}\n${block}`,
  };
}

/** The places of a document that has none but ours, and no other keys. */
function ours(document: unknown): Environments | undefined {
  if (!isConfigTable(document)) return undefined;
  const { default: first, include_local: local, environments = [], ...more } = document;
  const places = Array.isArray(environments) ? (environments as readonly ConfigTable[]) : undefined;
  if (!places || Object.keys(more).length > 0) return undefined;
  if (places.length === 0) return first === undefined && local === undefined ? { environments: [] } : undefined;
  const isOurs = places.every((one) => isConfigTable(one) && typeof one['id'] === 'string' && OURS.test(one['id']));
  return isOurs && local === false && places.some((one) => one['id'] === first)
    ? { default: first, environments: places }
    : undefined;
}

/** Of the one place in a part of the file. */
function idOf(part: string): unknown {
  if (!BLOCK.test(part)) return undefined;
  const document = tomlEditor.read(part) as { readonly environments: readonly ConfigTable[] };
  return document.environments[0]?.['id'];
}

const ended = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
