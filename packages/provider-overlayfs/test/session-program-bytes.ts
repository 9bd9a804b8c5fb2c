import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readSessionProgram } from '../src/machine/session-program.ts';

const run = promisify(execFile);
const BUILD = fileURLToPath(new URL('../../session-program/build.sh', import.meta.url));
const ARM64 = fileURLToPath(new URL('../../session-linux-arm64/dist/litterbox-session', import.meta.url));

/** The build of this machine may have been before it had a compiler for arm64. */
let forArm64: Promise<unknown> | undefined;

/**
 * The session program for an architecture: as it was built, or, where LITTERBOX_SESSION_SANITIZERS names some, built with those. Where
 * LITTERBOX_SESSION_EMULATOR names a program, that runs the one for arm64 in its place.
 */
export async function sessionProgramBytes(architecture: string): Promise<Uint8Array> {
  const emulator = process.env['LITTERBOX_SESSION_EMULATOR'];
  if (emulator !== undefined) {
    await (forArm64 ??= run('sh', [BUILD, 'aarch64', ARM64]));
    if (!readSessionProgram('aarch64'))
      throw new Error('The session program was not built for arm64: there is no compiler');
    return new TextEncoder().encode(`#!/bin/sh\nexec ${emulator} '${ARM64}' "$@"\n`);
  }
  const sanitizers = process.env['LITTERBOX_SESSION_SANITIZERS'];
  if (sanitizers === undefined) {
    const bytes = readSessionProgram(architecture);
    if (!bytes) throw new Error('The session program was not built: npm run build');
    return bytes;
  }
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-program-'));
  try {
    const built = join(directory, 'litterbox-session');
    const flags = [`-fsanitize=${sanitizers}`, '-fno-sanitize-recover=all', '-U_FORTIFY_SOURCE', '-g'];
    await run('sh', [BUILD, architecture, built, ...flags], { env: { ...process.env, LINK: '' } });
    return await readFile(built);
  } finally {
    await rm(directory, { recursive: true });
  }
}
