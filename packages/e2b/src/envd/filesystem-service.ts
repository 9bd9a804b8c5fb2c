import { isLitterboxError, LitterboxError } from 'litterbox';
import * as z from 'zod';
import { parseJson } from '../door/parse-json.ts';
import type { ServedSandbox } from '../served-sandbox.ts';
import { entriesBelow, entryInfo } from './entry-info.ts';
import { insidePath } from './inside-path.ts';

/** Most names of one answer; more are for a command inside. */
const MAX_NAMES = 10_000;
const MAX_DEPTH = 64;
const atPath = z.object({ path: z.string().default('').transform(insidePath) });
const listRequest = atPath.extend({ depth: z.int().min(0).max(MAX_DEPTH).default(1) });
const moveRequest = z.object({
  source: z.string().min(1).transform(insidePath),
  destination: z.string().min(1).transform(insidePath),
});

/** Calls of the service `filesystem.Filesystem` with one answer, by their names. */
export const FILESYSTEM_CALLS: Readonly<
  Record<string, (served: ServedSandbox, body: Buffer, signal: AbortSignal) => Promise<object>>
> = {
  async Stat({ sandbox }, body, signal) {
    return { entry: await entryInfo(sandbox, parseJson(atPath, body).path, signal) };
  },
  async ListDir({ sandbox }, body, signal) {
    const { path, depth } = parseJson(listRequest, body);
    return { entries: await entriesBelow(sandbox, path, { depth: depth || 1, maxNames: MAX_NAMES, signal }) };
  },
  async MakeDir({ sandbox }, body, signal) {
    const { path } = parseJson(atPath, body);
    if (await sandbox.files.exists(path, { signal }))
      throw new LitterboxError('ALREADY_EXISTS', `${JSON.stringify(path)} exists.`, { operation: 'e2b.files' });
    await sandbox.files.mkdir(path, { recursive: true, signal });
    return { entry: await entryInfo(sandbox, path, signal) };
  },
  async Move({ sandbox }, body, signal) {
    const { source, destination } = parseJson(moveRequest, body);
    await sandbox.files.stat(source, { signal });
    if (await sandbox.files.exists(destination, { signal })) {
      const [from, to] = [
        await sandbox.files.stat(source, { signal }),
        await sandbox.files.stat(destination, { signal }),
      ];
      if (to.type === 'directory' && !(to.isLink && from.type === 'file'))
        throw new LitterboxError('INVALID_ARGUMENT', `${JSON.stringify(destination)} is a directory that exists.`, {
          operation: 'e2b.files',
        });
    }
    const parent = destination.slice(0, destination.lastIndexOf('/')) || '/';
    if (!(await sandbox.files.exists(parent, { signal })))
      await sandbox.files.mkdir(parent, { recursive: true, signal });
    const { exitCode, stderr } = await sandbox.run(['mv', '-f', '--', source, destination], { signal });
    if (exitCode !== 0)
      throw new LitterboxError('INVALID_ARGUMENT', `It could not be moved: ${stderr.trim().slice(0, 500)}`, {
        operation: 'e2b.files',
      });
    return { entry: await entryInfo(sandbox, destination, signal) };
  },
  async Remove({ sandbox }, body, signal) {
    try {
      await sandbox.files.remove(parseJson(atPath, body).path, { recursive: true, signal });
    } catch (error) {
      if (!isLitterboxError(error, 'NOT_FOUND')) throw error; // the protocol has nothing against it
    }
    return {};
  },
};
