import { type ObjectId, type RevisionMessage } from '@litterbox/core/provider';

/** Of the commits that Litterbox makes for agents. */
export const AGENTS_EMAIL = 'litterbox@localhost';
const IDENTITY = `Litterbox <${AGENTS_EMAIL}>`;
/** Our own header of a commit: git carries headers it does not know along. */
const HEADER = 'litterbox';

export interface Commit {
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  /** Seconds since 1970, of the committer. */
  readonly atSeconds: number;
  readonly message: string;
  /** Ours alone: the number of the revision and how many of the message's last lines are trailers. */
  readonly revision?: { readonly number: number; readonly trailers: number };
  /** A commit of the work tree as it was, which the person never made. */
  readonly synthetic: boolean;
}

export interface NewCommit {
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  readonly atSeconds: number;
  readonly message: string;
  readonly revision?: { readonly number: number; readonly trailers: number };
  readonly synthetic?: boolean;
}

export function serializeCommit(commit: NewCommit): Buffer {
  const lines = [`tree ${commit.tree}`, ...commit.parents.map((parent) => `parent ${parent}`)];
  lines.push(`author ${IDENTITY} ${commit.atSeconds} +0000`, `committer ${IDENTITY} ${commit.atSeconds} +0000`);
  if (commit.revision) lines.push(`${HEADER} revision=${commit.revision.number} trailers=${commit.revision.trailers}`);
  if (commit.synthetic) lines.push(`${HEADER} base=worktree`);
  // git ends a commit at the first NUL, so there must be none.
  const message = commit.message.replaceAll('\0', '\u2400').toWellFormed();
  return Buffer.from(`${lines.join('\n')}\n\n${message.endsWith('\n') ? message : `${message}\n`}`);
}

export function parseCommit(bytes: Buffer): Commit {
  const blank = bytes.indexOf('\n\n');
  const head = bytes.toString('utf8', 0, blank < 0 ? bytes.length : blank);
  const [tree = ''] = /^tree ([0-9a-f]+)/.exec(head)?.slice(1) ?? [];
  const parents = [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map((match) => match[1] as ObjectId);
  const atSeconds = Number(/^committer .*> (\d+) [+-]\d+$/m.exec(head)?.[1] ?? 0);
  const own = new RegExp(`^${HEADER} revision=(\\d+) trailers=(\\d+)$`, 'm').exec(head);
  return {
    tree: tree as ObjectId,
    parents,
    atSeconds,
    message: blank < 0 ? '' : bytes.toString('utf8', blank + 2),
    synthetic: new RegExp(`^${HEADER} base=worktree$`, 'm').test(head),
    ...(own ? { revision: { number: Number(own[1]), trailers: Number(own[2]) } } : {}),
  };
}

/** Trailers come last, after a blank line, one per line. */
export function messageText({ subject, body, trailers }: RevisionMessage): string {
  const paragraphs = [subject.replace(/\s*\n\s*/g, ' ')];
  if (body) paragraphs.push(body.replace(/\n+$/, ''));
  if (trailers.length > 0) {
    paragraphs.push(trailers.map(([name, value]) => `${name}: ${value.replace(/\s*\n\s*/g, ' ')}`).join('\n'));
  }
  return `${paragraphs.join('\n\n')}\n`;
}

export function parseMessage(text: string, trailerCount: number): RevisionMessage {
  const lines = text.replace(/\n$/, '').split('\n');
  const trailers = trailerCount > 0 ? lines.splice(-trailerCount) : [];
  const [subject = '', ...rest] = lines;
  const body = rest.join('\n').replace(/^\n+|\n+$/g, '');
  return {
    subject,
    ...(body ? { body } : {}),
    trailers: trailers.map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
  };
}
