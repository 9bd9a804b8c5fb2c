// A file of its own, which is loaded by the first call.
export { PERSON_USE_CASES } from '@litterbox/core';
