import * as z from 'zod';
import { LitterboxError } from '../../domain/errors/errors.ts';
import type { ObjectId } from '../../domain/sandbox/ids.ts';
import { repositoryPath } from '../../domain/paths/repository-path.ts';
import type { FileChange } from '../../ports/source-control/file-change.ts';
import { FindSandbox } from '../../use-cases/common/find-sandbox.ts';
import { LookAtSandbox } from '../../use-cases/review/look-at-sandbox.ts';
import { OpenRepository } from '../../use-cases/common/open-repository.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** What a sandbox changed, in two forms that are read on demand: a summary, and the patch as a stream of hostile bytes. */
export interface SandboxDiff {
  /** Up to which revision it goes. */
  readonly tip: ObjectId;
  /** The revision that a person was shown last, which this one is compared with. Absent when it is everything. */
  readonly since?: ObjectId;
  /** One sentence: why the workspace was not looked into, so that its last changes may be missing. */
  readonly unsettled?: string;
  files(): Promise<readonly FileChange[]>;
  /** @param hasBinary with the content of binary files, as `git apply` takes it */
  patch(hasBinary?: boolean): AsyncIterable<Uint8Array>;
  /**
   * Notes that a person was shown all of it: their apply or merge then stands on that revision, and is refused where the sandbox went on
   * (`CHANGED_SINCE_SHOWN`). Reading the patch to its end does it by itself. Nothing happens for a part: paths, or one revision.
   */
  markShown(): Promise<void>;
}

const oneOfTwo = () =>
  new LitterboxError(
    'INVALID_ARGUMENT',
    'One revision is not what changed since somebody looked: name one of the two.',
    {
      operation: 'sandbox.diff',
      hint: 'Leave out the revision, or --since-seen.',
    },
  );

/** `sandbox-diff`, `litterbox diff`: show what a sandbox changed. */
export const readDiff = operation({
  name: 'sandbox-diff',
  summary: 'Show what a sandbox changed',
  effect: 'read',
  command: {
    verb: 'diff',
    positional: ['sandbox', 'paths'],
    examples: [
      'diff fix-login',
      'diff fix-login --stat',
      'diff fix-login --since-seen',
      'diff fix-login --revision 3 src',
    ],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    paths: z.array(z.string()).readonly().optional().describe('Only these files and directories'),
    contextLines: fields
      .count(0, 1_000_000, { flag: 'unified', short: 'U' })
      .optional()
      .describe('Lines around each change, 3 without'),
    sinceSeen: fields.flag().optional().describe('Only what changed since you were shown it last'),
    revision: fields.text('number').optional().describe('One revision against the one before, by number or commit'),
  }),
  async execute(
    useCases,
    { sandbox, paths: given, revision, contextLines, sinceSeen = false },
    options,
  ): Promise<SandboxDiff> {
    const paths = given?.map(repositoryPath);
    const repository = await useCases.get(OpenRepository).open(options);
    const context = contextLines === undefined ? {} : { contextLines };
    const some = { ...options, ...context, ...(paths?.length && { paths }) };
    if (revision !== undefined) {
      if (sinceSeen) throw oneOfTwo();
      const { id } = await useCases.get(FindSandbox).find(sandbox, options);
      const { commit: tip } = await repository.resolve(id, revision, options);
      const scope = { ...some, revision: tip };
      return {
        tip,
        files: () => repository.changes(id, scope),
        patch: (hasBinary = false) => repository.diff(id, { ...scope, hasBinary }),
        markShown: async () => {},
      };
    }
    const looking = useCases.get(LookAtSandbox);
    const look = await looking.look(sandbox, options);
    const { id } = look.record;
    const since = sinceSeen ? look.record.shownTip : undefined;
    const upTo = look.tip.commit;
    const scope = { ...some, ...(since === undefined ? { upTo } : { revision: upTo, against: since }) };
    const markShown = async () => {
      if (!paths?.length) await looking.markShown(look);
    };
    return {
      tip: look.tip.commit,
      ...(since !== undefined && { since }),
      ...(look.unsettled !== undefined && { unsettled: look.unsettled }),
      files: () => repository.changes(id, scope),
      async *patch(hasBinary = false) {
        yield* repository.diff(id, { ...scope, hasBinary });
        await markShown();
      },
      markShown,
    };
  },
});
