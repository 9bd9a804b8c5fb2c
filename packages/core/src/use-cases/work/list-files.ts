import { globMatcher } from '../../domain/search/glob-pattern.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { InspectSandbox } from './inspect-sandbox.ts';
import { type Walk, walkFiles } from '../../inside/walk-files.ts';

interface Needs {
  readonly inspectSandbox: InspectSandbox;
}

/** Lists what is in directories of a sandbox. */
export class ListFiles {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** A directory's names, or everything below it. @throws LitterboxError as `walkFiles`. */
  async list(
    { sandbox, path, isRecursive }: { readonly sandbox: string; readonly path: string; readonly isRecursive: boolean },
    options?: CallOptions,
  ): Promise<Walk> {
    return await this.#needs.inspectSandbox.inspect(
      {
        sandbox,
        operation: 'sandbox-ls',
        input: { path: path.slice(0, 4096), recursive: isRecursive },
        look: (opened, { workdir }) =>
          walkFiles(opened, workdir, path, { depth: isRecursive ? 'all' : 'children' }, options),
      },
      options,
    );
  }

  /** The files below a directory whose paths match. @throws LitterboxError as `walkFiles` and `globMatcher`. */
  async glob(
    { sandbox, path, pattern }: { readonly sandbox: string; readonly path: string; readonly pattern: string },
    options?: CallOptions,
  ): Promise<Walk> {
    const matches = globMatcher(pattern);
    return await this.#needs.inspectSandbox.inspect(
      {
        sandbox,
        operation: 'sandbox-glob',
        input: { path: path.slice(0, 4096), pattern: pattern.slice(0, 4096) },
        async look(opened, { workdir }) {
          const walk = await walkFiles(opened, workdir, path, { depth: 'all', isFilesOnly: true }, options);
          return { ...walk, found: walk.found.filter((one) => matches(one.path)) };
        },
      },
      options,
    );
  }
}
