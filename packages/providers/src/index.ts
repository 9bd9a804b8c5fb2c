export { PROVIDERS } from './providers.ts';
