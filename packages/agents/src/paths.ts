import type { ExecPlace } from './exec-place.ts';

/** A directory of the person's repository as hands take it: relative to the workspace. `undefined`: it lies elsewhere. */
export function insidePath({ root }: Pick<ExecPlace, 'root'>, path: string): string | undefined {
  if (path === root) return '.';
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) || '.' : undefined;
}

/** The place on the person's machine for a directory of the workspace. `undefined`: it is none of that. */
export function hostPath({ root, hands }: ExecPlace, path: string): string | undefined {
  const { workdir } = hands.record;
  if (!isPlain(path) || (path !== workdir && !path.startsWith(`${workdir}/`))) return undefined;
  return `${root}${path.slice(workdir.length)}`;
}

/** Whether text is one absolute path that nothing has to be done about. */
export function isPlain(path: string): boolean {
  return path === '/' || (path.startsWith('/') && !/[\0\n\r]|\/\.{0,2}(?:\/|$)/.test(path));
}
