import { INCLUDED_PATH, includedPath, MAX_INCLUDED, topmostPaths } from '../../domain/sandbox/included-path.ts';
import { Refused, refusedValue, setting } from './setting.ts';

const HINT = 'Write include = ["node_modules", "target"], for example.';

/** A key that takes paths of the person's working tree. */
export function includeList(description: string) {
  const schema = {
    type: 'array',
    items: { type: 'string' },
    maxItems: MAX_INCLUDED,
    examples: [['node_modules', 'target']],
    description,
  };
  return setting(schema, (value): readonly string[] | Refused => {
    if (!Array.isArray(value)) return refusedValue('CONFIG_TYPE', value, 'a list of paths', HINT);
    if (value.length > MAX_INCLUDED)
      return new Refused('CONFIG_VALUE', `got ${value.length} paths, want at most ${MAX_INCLUDED}`, HINT);
    const paths: string[] = [];
    for (const [index, item] of value.entries()) {
      const path = typeof item === 'string' ? includedPath(item) : undefined;
      const code = typeof item === 'string' ? 'CONFIG_VALUE' : 'CONFIG_TYPE';
      if (path === undefined) return refusedValue(code, item, INCLUDED_PATH, HINT, [index]);
      paths.push(path);
    }
    return topmostPaths(paths);
  });
}
