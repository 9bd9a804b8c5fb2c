export { type GitOptions, git } from './git.ts';
