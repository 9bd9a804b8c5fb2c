import { DEFAULT_IMAGE } from '@litterbox/core';

/** Told of a sandbox in the image that is taken when nobody names one. */
export const BARE_IMAGE = `The image is ${DEFAULT_IMAGE}, which has no git, node or python; choose another with --image node:24.`;
