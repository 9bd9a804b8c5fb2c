export { litterboxClient } from './litterbox-client.ts';
export type { LitterboxSession, LitterboxSessionState } from './session-state.ts';
