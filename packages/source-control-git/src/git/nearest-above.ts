/** Directories whose answers are remembered at once. */
const MAX_KNOWN = 100_000;

/**
 * Finds what a map has for the nearest directory above a path. Each directory on the way is looked up once for all that is below: an agent
 * may put a hundred thousand files two thousand directories deep.
 */
export function nearestAbove<Value>(values: ReadonlyMap<string, Value>): (path: string) => Value | undefined {
  const known = new Map<string, Value | undefined>();
  return (path) => {
    if (values.size === 0) return undefined;
    const asked: string[] = [];
    let found: Value | undefined;
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const directory = path.slice(0, end);
      const isKnown = known.has(directory);
      found = isKnown ? known.get(directory) : values.get(directory);
      if (isKnown) break;
      asked.push(directory);
      if (found !== undefined) break;
    }
    if (known.size + asked.length > MAX_KNOWN) known.clear();
    for (const directory of asked) known.set(directory, found);
    return found;
  };
}
