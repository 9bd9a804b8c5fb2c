export { sandboxSession } from './sandbox-session.ts';
