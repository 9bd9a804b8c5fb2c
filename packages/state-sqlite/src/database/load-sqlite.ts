/**
 * Loads `node:sqlite`. Node 22 announces it with an ExperimentalWarning on stderr, where a person waits for our own
 * lines: that one warning is dropped, every other passes.
 */
export async function loadSqlite(): Promise<typeof import('node:sqlite')> {
  const original: unknown = Reflect.get(process, 'emitWarning');
  const filtered = (...parameters: unknown[]): void => {
    const [warning, kind] = parameters;
    if (kind === 'ExperimentalWarning' && String(warning).includes('SQLite')) return;
    if (typeof original === 'function') Reflect.apply(original, process, parameters);
  };
  process.emitWarning = filtered;
  try {
    return await import('node:sqlite');
  } finally {
    if (Reflect.get(process, 'emitWarning') === filtered) Reflect.set(process, 'emitWarning', original);
  }
}
