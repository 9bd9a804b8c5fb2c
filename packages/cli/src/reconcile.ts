export { reconcileState } from '@litterbox/core';
