export { git } from './git.ts';
export type { GitOptions } from './open-git.ts';
