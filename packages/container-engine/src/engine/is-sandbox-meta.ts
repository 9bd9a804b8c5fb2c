import { isObjectOf, type ReadDescription } from '@litterbox/linux-sandbox';

/** A directory beside others of ours: of a base tree, or of a layer for one. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,255}$/;

const isText = (value: unknown): value is string => typeof value === 'string';
const isName = (value: unknown): boolean => isText(value) && NAME.test(value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isAbsentOr = (value: unknown, is: (value: unknown) => boolean): boolean => value === undefined || is(value);
const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Whether a description that was read has what `SandboxMeta` adds, each member of its own type. */
export function isSandboxMeta({
  base,
  over,
  image,
  imageId,
  engineRoot,
  imageEnvironment,
  hostileNames,
  imageVolumes,
  user,
  prepared,
  newer,
  artefacts,
}: ReadDescription): boolean {
  return (
    isName(base) &&
    isText(image) &&
    isText(imageId) &&
    isAbsentOr(engineRoot, isText) &&
    isObjectOf(imageEnvironment, isText) &&
    isTexts(hostileNames) &&
    isTexts(imageVolumes) &&
    isObjectOf(user, isNumber) &&
    'uid' in user &&
    'gid' in user &&
    isAbsentOr(prepared, isName) &&
    isAbsentOr(newer, isName) &&
    isAbsentOr(artefacts, isName) &&
    isAbsentOr(over, (one) => isObjectOf(one, isName))
  );
}
