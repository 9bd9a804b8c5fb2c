import { isObjectOf, type ReadDescription } from '@litterbox/linux-sandbox';
import { STRATEGY_NAMES } from './strategies/choose-strategy.ts';

/** A directory beside others of ours: of a base tree, or of a layer for one. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,255}$/;

const isText = (value: unknown): value is string => typeof value === 'string';
const isName = (value: unknown): boolean => isText(value) && NAME.test(value);
const isAbsentOr = (value: unknown, is: (value: unknown) => boolean): boolean => value === undefined || is(value);

/** Whether a description that was read has what `SandboxMeta` adds, each member of its own type. */
export function isSandboxMeta({
  base,
  strategy,
  root,
  prepared,
  newer,
  artefacts,
  over,
  live,
  searchPath,
  firstMark,
}: ReadDescription): boolean {
  return (
    isName(base) &&
    STRATEGY_NAMES.some((name) => name === strategy) &&
    isRoot(root) &&
    isAbsentOr(prepared, (one) => isObjectOf(one, isName)) &&
    isAbsentOr(newer, isName) &&
    isAbsentOr(artefacts, isName) &&
    isAbsentOr(over, (one) => isObjectOf(one, isName)) &&
    isAbsentOr(live, isLive) &&
    isAbsentOr(searchPath, isSearchPath) &&
    isAbsentOr(firstMark, isText)
  );
}

const isSearchPath = (value: unknown) =>
  Array.isArray(value) && value.every((path) => isText(path) && path.startsWith('/'));

function isRoot(value: unknown): boolean {
  const { type, path } = (isObjectOf(value, isText) ? value : {}) as Readonly<Record<'type' | 'path', unknown>>;
  return type === 'machine' || (type === 'directory' && isText(path) && path.startsWith('/'));
}

const isLive = (value: unknown) =>
  isObjectOf(value, (member) => isText(member) || (Array.isArray(member) && member.every(isText)));
