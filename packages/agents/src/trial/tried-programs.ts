import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { LitterboxError } from 'litterbox';
import * as z from 'zod';
import type { Seat } from '../seats/seat.ts';
import { killTree } from '../end-tree.ts';
import { trySeat } from './try-seat.ts';

/** Raised when what a trial shows changes, so that old ones count no more. */
const TRIAL = 2;
const MAX_KEPT = 64;
/** An agent's program takes seconds on a busy machine. */
const VERSION_MS = 15_000;
const book = z.object({ trial: z.literal(TRIAL), programs: z.array(z.string()) });

/** A program of the person's that has been found to leave its hands to us. */
export interface TriedProgram {
  /** Absolute, without links. */
  readonly path: string;
  /** As it says itself. */
  readonly version: string;
}

/**
 * Tries each version of a program once, and keeps in the state directory which were.
 *
 * @param path of the program, absolute. @defaultValue the first in PATH
 * @throws LitterboxError `TOOL_MISSING`, and as `trySeat`
 */
export async function assertTried(
  seat: Seat,
  environment: NodeJS.ProcessEnv,
  stateDirectory: string,
  onTrial: (version: string) => void,
  path?: string,
): Promise<TriedProgram> {
  const program = await findProgram(seat, environment, path);
  const file = join(stateDirectory, 'tried-agents.json');
  const key = `${seat.id} ${program.version} ${program.path} ${await stampOf(program.path)}`;
  const programs = await readBook(file);
  if (programs.includes(key)) return program;
  onTrial(program.version);
  await trySeat(seat, program.path, environment);
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}`;
  const kept = [...programs.filter((one) => one !== key), key].slice(-MAX_KEPT);
  await writeFile(fresh, JSON.stringify({ trial: TRIAL, programs: kept }), { mode: 0o600 });
  await rename(fresh, file);
  return program;
}

/** Another one after every change of the file: a launcher that was edited is tried again. */
async function stampOf(path: string): Promise<string> {
  const { ino, size, ctimeNs } = await stat(path, { bigint: true });
  return [ino, size, ctimeNs].join(':');
}

/** Unreadable or of another trial: nothing was tried. */
async function readBook(file: string): Promise<readonly string[]> {
  try {
    return book.parse(JSON.parse(await readFile(file, 'utf8'))).programs;
  } catch {
    return [];
  }
}

/** The first line that it says about itself. */
async function versionOf(path: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(path, ['--version'], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    if (child.pid !== undefined) killTree(child.pid);
  }, VERSION_MS);
  try {
    const [[code], output, complaint] = await Promise.all([
      once(child, 'close'),
      text(child.stdout),
      text(child.stderr),
    ]);
    if (isLate) throw new Error(`it did not answer within ${VERSION_MS / 1000} s`);
    if (code !== 0) throw new Error(complaint.trim().slice(-300) || `it ended with ${code ?? 'a signal'}`);
    return output.trim().split('\n')[0]?.slice(0, 100) ?? '';
  } finally {
    clearTimeout(timer);
  }
}

async function findProgram(
  { program, title, id }: Seat,
  environment: NodeJS.ProcessEnv,
  given: string | undefined,
): Promise<TriedProgram> {
  const inPath = (environment['PATH'] ?? '').split(':').map((directory) => join(directory, program));
  for (const path of given === undefined ? inPath.filter(isAbsolute) : [given]) {
    try {
      return { path: await realpath(path), version: await versionOf(path, environment) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && (error as NodeJS.ErrnoException).code !== 'EACCES')
        throw new LitterboxError('TOOL_MISSING', `${path} --version failed: ${(error as Error).message}`, {
          operation: 'agent.seat',
          hint: `Try it by hand. If it fails there too, install ${title} anew.`,
        });
    }
  }
  throw new LitterboxError(
    'TOOL_MISSING',
    given === undefined ? `There is no program ${program} in your PATH.` : `${given} is no program.`,
    {
      operation: 'agent.seat',
      hint: `Install ${title}, or start another agent by its configuration: litterbox agent install ${id}.`,
    },
  );
}
