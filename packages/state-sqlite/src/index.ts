export { type SqliteStateOptions, sqliteState } from './sqlite-state.ts';
