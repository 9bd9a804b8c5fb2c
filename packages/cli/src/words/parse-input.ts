export { parseInput } from '@litterbox/core';
