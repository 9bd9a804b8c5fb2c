import type { Machine } from './machine.ts';

/** Directories of PATH that a sandbox sees, in order. */
export function visibleSearchPath(machine: Machine): readonly string[] {
  return machine.facts.searchPath.filter((path) => isVisible(path, machine));
}

function isVisible(path: string, { toolDirectories, rootLinks, rootDirectories }: Machine): boolean {
  const [, top = ''] = path.split('/');
  if (top === 'usr' || rootDirectories.includes(top) || rootLinks.some(([name]) => name === top)) return true;
  return toolDirectories.some((tool) => path === tool.path || path.startsWith(`${tool.path}/`));
}
