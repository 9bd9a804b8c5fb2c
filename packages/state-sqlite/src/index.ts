export { type SqliteStateOptions, sqliteState } from './sqlite-state.ts';
export { prepareStateDirectory } from './state-directory.ts';
