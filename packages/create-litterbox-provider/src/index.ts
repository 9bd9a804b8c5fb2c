export { createProvider, type CreatedProvider } from './create-provider.ts';
