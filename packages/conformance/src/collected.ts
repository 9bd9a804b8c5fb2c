import assert from 'node:assert/strict';
import { decodeRaw, type ExitStatus, type ProcessHandle } from '@litterbox/core/provider';

/** What a program printed, decoded and as bytes, and how it ended. */
export interface Collected {
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: Uint8Array;
  readonly exit: ExitStatus;
}

/** Reads a process to its end and disposes it. A test that fails before it waits for this fails for its own reason. */
export function collected(handle: ProcessHandle): Promise<Collected> {
  const output = collect(handle);
  output.catch(() => {});
  return output;
}

async function collect(handle: ProcessHandle): Promise<Collected> {
  await using process = handle;
  const parts = { 'stdout-data': [] as Uint8Array[], 'stderr-data': [] as Uint8Array[] };
  for await (const { type, bytes } of process) parts[type].push(bytes);
  const stdoutBytes = joined(parts['stdout-data']);
  return {
    stdout: decodeRaw(stdoutBytes),
    stderr: decodeRaw(joined(parts['stderr-data'])),
    stdoutBytes,
    exit: await process.exit,
  };
}

/** Fails when the bytes differ, in a few words: a difference of large arrays spelled out takes gigabytes. */
export function assertSameBytes(got: Uint8Array, wanted: Uint8Array): void {
  const at = wanted.findIndex((byte, index) => got[index] !== byte);
  assert.ok(
    at === -1 && got.length === wanted.length,
    `${got.length} bytes came, ${wanted.length} are wanted${at === -1 ? '' : `; byte ${at} is ${got[at]}, not ${wanted[at]}`}`,
  );
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
