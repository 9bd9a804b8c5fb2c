import { stripVTControlCharacters } from 'node:util';

/** Rows in columns for a person; tab-separated without a header for a program. */
export function table(header: readonly string[], rows: readonly (readonly string[])[], isForPerson: boolean): string {
  if (!isForPerson) return rows.map((row) => row.map((cell) => stripVTControlCharacters(cell)).join('\t')).join('\n');
  const all = [header, ...rows];
  const widths = header.map((_, column) =>
    Math.max(...all.map((row) => stripVTControlCharacters(row[column] ?? '').length)),
  );
  return all
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - stripVTControlCharacters(cell).length))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `3m`, in the largest whole unit. */
export function shortAge(atMs: number, nowMs = Date.now()): string {
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** `3 minutes ago`, in the largest whole unit. */
export function ago(atMs: number, nowMs = Date.now()): string {
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  for (const [unit, length] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const) {
    const count = Math.floor(seconds / length);
    if (count >= 1) return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}

/** `3.4 MiB`, in the largest unit of which it is one at least. */
export function bytes(count: number): string {
  for (const [unit, size] of [
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const) {
    if (count >= size) return `${(count / size).toFixed(count >= 10 * size ? 0 : 1)} ${unit}`;
  }
  return `${count} B`;
}
