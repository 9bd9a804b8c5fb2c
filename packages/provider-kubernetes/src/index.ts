export { kubernetes, KUBERNETES } from './kubernetes.ts';
