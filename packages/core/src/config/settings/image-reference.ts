import { Refused, refusedValue, setting } from './setting.ts';

const MAX_CHARACTERS = 255;
const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const DOMAIN = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::[0-9]{1,5})?/)?';
/** @see https://github.com/distribution/reference, the grammar in reference.go */
const REFERENCE = new RegExp(
  `^${DOMAIN}${COMPONENT}(?:/${COMPONENT})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
);

/** Whether a text is the reference of a container image, as `docker pull` takes it. */
export const isImageReference = (text: string): boolean => text.length <= MAX_CHARACTERS && REFERENCE.test(text);

/** A key that takes the reference of a container image. */
export function imageReference(description: string) {
  const schema = { type: 'string', maxLength: MAX_CHARACTERS, examples: ['debian:12'], description };
  return setting(schema, (value): string | Refused => {
    if (typeof value === 'string' && isImageReference(value)) return value;
    const wanted = 'an image reference, e.g. "debian:12" (this is not an image reference)';
    const code = typeof value === 'string' || typeof value === 'number' ? 'CONFIG_VALUE' : 'CONFIG_TYPE';
    return refusedValue(
      code,
      value,
      wanted,
      'Write [registry/]name[:tag][@sha256:digest] in lower case, as for `docker pull`.',
    );
  });
}
