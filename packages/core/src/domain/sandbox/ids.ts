import { LitterboxError } from '../errors/errors.ts';
import { shown } from '../text/shown.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** A uuid in lower case: the identity of a sandbox for ever. Safe as a path segment, a ref segment and a label. */
export type SandboxId = Branded<'SandboxId'>;
/** A uuid in lower case, given to a user repository when Litterbox first opens it. */
export type RepositoryId = Branded<'RepositoryId'>;
/** A git object id, 40 (SHA-1) or 64 (SHA-256) lower-case hexadecimal digits. */
export type ObjectId = Branded<'ObjectId'>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

function parserOf<Id extends string>(what: string, pattern: RegExp) {
  return {
    /** @throws LitterboxError `INVALID_ARGUMENT` when the text is not such an id. */
    parse(text: string): Id {
      if (pattern.test(text)) return text as Id;
      throw new LitterboxError('INVALID_ARGUMENT', `${shown(text)} is not ${what}.`, { operation: 'id.parse' });
    },
    is: (text: string): text is Id => pattern.test(text),
  };
}

export const SandboxId = {
  ...parserOf<SandboxId>('a sandbox id (a uuid)', UUID),
  make: (): SandboxId => crypto.randomUUID() as SandboxId,
};
export const RepositoryId = {
  ...parserOf<RepositoryId>('a repository id (a uuid)', UUID),
  make: (): RepositoryId => crypto.randomUUID() as RepositoryId,
};
export const ObjectId = parserOf<ObjectId>('a git object id', OBJECT_ID);
