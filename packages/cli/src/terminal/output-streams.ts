import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import type { OutputChunk } from '@litterbox/core';

/** Passes output on, and resolves when whoever reads it has kept up: until then no more is asked for. */
export async function passOn({ type, bytes }: OutputChunk): Promise<void> {
  const stream = type === 'stdout-data' ? process.stdout : process.stderr;
  if (!stream.write(bytes)) await once(stream, 'drain');
}

/** Whether both streams end in one place, as with `2>&1` or on a terminal: there the order of what is written to them can be seen. */
export function isOnePlace(): boolean {
  try {
    const [out, errors] = [fstatSync(1), fstatSync(2)];
    return out.dev === errors.dev && out.ino === errors.ino && out.rdev === errors.rdev;
  } catch {
    return false; // one of them is closed
  }
}
