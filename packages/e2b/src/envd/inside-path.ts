import { WORKSPACE } from '../control/create-input.ts';

/** A path as the protocol has it, where the home of its user is the workspace. It means something inside the sandbox alone. */
export function insidePath(path: string): string {
  if (path === '' || path === '~') return WORKSPACE;
  if (path.startsWith('~/')) return `${WORKSPACE}/${path.slice(2)}`;
  return path.startsWith('/') ? path : `${WORKSPACE}/${path}`;
}
