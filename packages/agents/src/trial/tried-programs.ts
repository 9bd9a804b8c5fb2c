import { execFile } from 'node:child_process';
import { mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { LitterboxError } from 'litterbox';
import * as z from 'zod';
import type { Seat } from '../seats/seat.ts';
import { trySeat } from './try-seat.ts';

/** Raised when what a trial shows changes, so that old ones count no more. */
const TRIAL = 2;
const MAX_KEPT = 64;
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

async function findProgram(
  { program, title, id }: Seat,
  environment: NodeJS.ProcessEnv,
  given: string | undefined,
): Promise<TriedProgram> {
  const inPath = (environment['PATH'] ?? '').split(':').map((directory) => join(directory, program));
  for (const path of given === undefined ? inPath.filter(isAbsolute) : [given]) {
    try {
      const { stdout } = await promisify(execFile)(path, ['--version'], { env: environment, timeout: 30_000 });
      return { path: await realpath(path), version: stdout.trim().split('\n')[0]?.slice(0, 100) ?? '' };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && (error as NodeJS.ErrnoException).code !== 'EACCES')
        throw new LitterboxError('TOOL_MISSING', `${path} --version failed: ${String(error)}`, {
          operation: 'agent.seat',
          hint: `Install ${title} anew.`,
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
