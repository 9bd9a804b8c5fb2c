export { agentDirectory } from './agent-directory.ts';
export { type SqliteStateOptions, sqliteState } from './sqlite-state.ts';
export { prepareStateDirectory } from './database/state-directory.ts';
