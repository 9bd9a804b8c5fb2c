export { type HandClock, handClock } from './hand-clock.ts';
export { memoryAudit } from './memory-audit.ts';
export { memoryPool } from './memory-pool.ts';
export { memoryState } from './memory-state.ts';
export { realClock } from './real-clock.ts';
export { type Owner, StateShelf } from './state-shelf.ts';
