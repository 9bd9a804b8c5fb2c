export const WENT_ON = 'The sandbox went on. Press r to see what it is now.';

const STEPS: readonly (readonly [unit: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
];

/** `3m ago`. */
export function ago(atMs: number): string {
  const seconds = Math.max(0, (Date.now() - atMs) / 1000);
  for (const [unit, size] of STEPS) if (seconds >= size) return `${Math.floor(seconds / size)}${unit} ago`;
  return 'just now';
}

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

export const bytesText = (bytes: number): string =>
  bytes < 1024 ? counted(bytes, 'byte') : `${(bytes / 1024).toFixed(1)} KiB`;
