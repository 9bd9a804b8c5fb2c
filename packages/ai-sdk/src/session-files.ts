import type { Experimental_SandboxSession } from 'ai';
import { isLitterboxError, LitterboxError } from 'litterbox';
import { callOf } from './call-of.ts';
import type { SessionFiles } from './files-at.ts';
import { decodeText, encodeText, linesOf, streamOf } from './text-and-streams.ts';

/** The members of a session that concern files. */
export function sessionFiles(files: SessionFiles): Omit<Experimental_SandboxSession, 'description' | 'run' | 'spawn'> {
  const readBinaryFile: Experimental_SandboxSession['readBinaryFile'] = async ({ path, abortSignal }) =>
    await orNull(files.read(path, callOf(abortSignal)));

  const writeBinaryFile: Experimental_SandboxSession['writeBinaryFile'] = async ({ path, content, abortSignal }) => {
    await files.write(path, content, callOf(abortSignal));
  };

  return {
    readBinaryFile,
    writeBinaryFile,

    async readFile(options) {
      const bytes = await readBinaryFile(options);
      return bytes && streamOf(bytes);
    },

    async readTextFile({ encoding, startLine, endLine, ...options }) {
      const bytes = await readBinaryFile(options);
      return bytes && linesOf(decodeText(bytes, encoding), startLine, endLine);
    },

    async writeFile({ path, content, abortSignal }) {
      await files.write(path, content, callOf(abortSignal));
    },

    async writeTextFile({ content, encoding, ...options }) {
      await writeBinaryFile({ ...options, content: encodeText(content, encoding) });
    },

    async stat({ path, abortSignal }) {
      const found = await orNull(files.stat(path, callOf(abortSignal)));
      return found && { type: found.type, size: found.sizeBytes };
    },

    async listDirectory({ path, abortSignal }) {
      const found = await orNull(files.list(path, callOf(abortSignal)), ['NOT_FOUND']);
      return found && found.map(({ path: name, type }) => ({ name, type: type === 'link' ? 'symlink' : type }));
    },

    deleteFile: async ({ path, abortSignal }) => await deleteFile(files, path, callOf(abortSignal)),
  };
}

async function deleteFile(files: SessionFiles, path: string, call: ReturnType<typeof callOf>): Promise<boolean> {
  const found = await orNull(files.stat(path, call));
  if (!found) return false;
  if (found.type === 'directory' && !found.isLink)
    throw new LitterboxError('IS_A_DIRECTORY', `${JSON.stringify(path)} is a directory.`, {
      operation: 'ai-sdk.delete-file',
      hint: 'Name a file, or run rm -r.',
    });
  return (await orNull(files.remove(path, call))) !== null;
}

/** Nothing where there is nothing at the path; any other failure stays one. */
async function orNull<Found>(
  asked: Promise<Found>,
  codes: readonly ('NOT_FOUND' | 'NOT_A_DIRECTORY')[] = ['NOT_FOUND', 'NOT_A_DIRECTORY'],
): Promise<Found | null> {
  try {
    return await asked;
  } catch (error) {
    if (codes.some((code) => isLitterboxError(error, code))) return null;
    throw error;
  }
}
