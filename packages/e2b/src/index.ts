export { type E2bOptions, type E2bServer, startE2b } from './start-e2b.ts';
