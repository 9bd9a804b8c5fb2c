import { LitterboxError } from '../errors/errors.ts';
import { withoutSecretWords } from '../secrets/without-secrets.ts';
import { visibleWords } from '../text/visible.ts';

/** The words of a revision. The adapter adds no text of its own and fixes author and committer to Litterbox. */
export interface RevisionMessage {
  /** One line, at most 72 characters. */
  readonly subject: string;
  readonly body?: string;
  /** `Name: value` lines at the end, in order. Values on one line. */
  readonly trailers: readonly (readonly [name: string, value: string])[];
}

/** Longest subject of a revision, in characters. */
export const MAX_SUBJECT_CHARACTERS = 72;
/** The trailer that names what made the revision. */
const TOOL_TRAILER = 'Litterbox-Tool';
/** The trailer that names the call, as the audit log counts, whose end nobody saw and which left the changes. */
const INTERRUPTED_TRAILER = 'Litterbox-Interrupted';
/** The trailer that names an agent's own call. */
const CALL_TRAILER = 'Litterbox-Call';
/** An agent's own name of a call, such as `call_8Hx`: it stands in a trailer and is shown to people. */
export const CALL_ID = /^[\w.:-]{1,128}$/;
/** An agent's own name of a call as {@link CALL_ID} has it, whatever its client sends. `undefined`: it has none. */
export function callIdOf(text: unknown): string | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  return text.slice(0, 128).replaceAll(/[^\w.:-]/g, '-');
}

/** Longest message a caller may give, in bytes of UTF-8 (security.md A14). */
export const MAX_MESSAGE_BYTES = 16 * 1024;

export interface RevisionTrigger {
  /** What was called: `run`, `write`, `bash`. */
  readonly tool: string;
  /** The command or the path, as a person would recognise it. */
  readonly subject: string;
  /** The whole command, when the subject may be cut. */
  readonly detail?: string | undefined;
  /** The caller's own words: they become the subject, and the trigger goes into the body. */
  readonly message?: string | undefined;
  readonly sandbox: string;
  /** What an agent calls the call that made it, as {@link CALL_ID} has it. */
  readonly callId?: string | undefined;
  readonly exitCode?: number;
  readonly durationMs?: number;
  /** Number of the call that was killed and left the changes. */
  readonly interrupted?: number | undefined;
}

/**
 * The words of a revision: what changed it, findable again by machine through its trailers. What looks like a secret is left out: a merge
 * makes them words of a commit, which goes to others.
 */
export function revisionMessage(trigger: RevisionTrigger): RevisionMessage {
  const { tool, message, sandbox, callId, exitCode, durationMs, interrupted } = trigger;
  const detail = trigger.detail === undefined ? undefined : visibleWords(withoutSecretWords(trigger.detail));
  const triggered = `${tool}: ${visibleWords(oneLine(withoutSecretWords(trigger.subject)))}`;
  const trailers: [string, string][] = [
    [TOOL_TRAILER, tool],
    ['Litterbox-Sandbox', sandbox],
  ];
  if (callId !== undefined) trailers.push([CALL_TRAILER, callId]);
  if (interrupted !== undefined) trailers.push([INTERRUPTED_TRAILER, String(interrupted)]);
  if (exitCode !== undefined) trailers.push(['Litterbox-Exit-Code', String(exitCode)]);
  if (durationMs !== undefined) trailers.push(['Litterbox-Duration-Ms', String(Math.round(durationMs))]);
  const whole = detail !== undefined && `${tool}: ${detail}` !== cut(triggered) ? quotedLines(detail) : undefined;
  if (message === undefined) return { subject: cut(triggered), ...(whole !== undefined && { body: whole }), trailers };
  const [first = '', ...rest] = visibleWords(withoutSecretWords(checkedMessage(message))).split('\n');
  const words = [
    quotedLines(rest.join('\n').trim()),
    triggered.length > MAX_SUBJECT_CHARACTERS && whole !== undefined ? whole : triggered,
  ].filter((part) => part !== '');
  return { subject: cut(oneLine(first)), body: words.join('\n\n'), trailers };
}

/** The tool that made a revision, such as `run`, `restore` or `recovered`. */
export function toolOf({ trailers }: Pick<RevisionMessage, 'trailers'>): string | undefined {
  return trailers.find(([name]) => name === TOOL_TRAILER)?.[1];
}

/** Number of the call that was killed and left what a revision holds. */
export function interruptedCallOf({ trailers }: Pick<RevisionMessage, 'trailers'>): number | undefined {
  const [, number] = trailers.find(([name]) => name === INTERRUPTED_TRAILER) ?? [];
  return number !== undefined && /^\d{1,15}$/.test(number) ? Number(number) : undefined;
}

/**
 * The words of a milestone, which reach the person's repository: as they were given, but that what is not seen stands there as an escape,
 * and that lines below the subject which pass for trailers are quoted.
 *
 * @throws LitterboxError as {@link checkedMessage}.
 */
export function milestoneMessage(message: string): string {
  const [subject = '', ...rest] = visibleWords(checkedMessage(message)).split('\n');
  return [subject, ...(rest.length > 0 ? [quotedLines(rest.join('\n'))] : [])].join('\n');
}

/**
 * A message as it was given. A line that begins with `#` is part of it: there are comments where git opens an editor alone.
 *
 * @throws LitterboxError `MESSAGE_EMPTY`, `MESSAGE_NUL` or `MESSAGE_TOO_LONG`.
 */
export function checkedMessage(message: string): string {
  const refuse = (code: 'MESSAGE_EMPTY' | 'MESSAGE_NUL' | 'MESSAGE_TOO_LONG', what: string, hint: string) =>
    new LitterboxError(code, `The message ${what}.`, { operation: 'revision.message', hint });
  if (message.includes('\0')) throw refuse('MESSAGE_NUL', 'holds a NUL character', 'Remove it.');
  const bytes = new TextEncoder().encode(message).length;
  if (bytes > MAX_MESSAGE_BYTES)
    throw refuse('MESSAGE_TOO_LONG', `is ${bytes} bytes long; at most ${MAX_MESSAGE_BYTES} are allowed`, 'Shorten it.');
  const trimmed = message.trim();
  if (trimmed === '') throw refuse('MESSAGE_EMPTY', 'is empty', 'Say in one line what was done.');
  return trimmed;
}

/**
 * To be asked before anything is done: what is found wrong afterwards has happened without being recorded.
 *
 * @throws LitterboxError as {@link checkedMessage}, and `MESSAGE_EMPTY` when the policy wants a message and there is none.
 */
export function assertMessage(
  { policy }: { readonly policy: { readonly requireMessage: boolean } },
  message: string | undefined,
): void {
  if (message !== undefined) checkedMessage(message);
  if (!policy.requireMessage || message !== undefined) return;
  throw new LitterboxError('MESSAGE_EMPTY', 'This repository wants a message with every change.', {
    operation: 'revision.message',
    hint: 'Say in one line what it is for (--message).',
  });
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();
const cut = (text: string) =>
  text.length <= MAX_SUBJECT_CHARACTERS ? text : `${text.slice(0, MAX_SUBJECT_CHARACTERS - 1).trimEnd()}…`;

/**
 * Lines that look like trailers would be believed by tools that read them, so a caller's are quoted as in mail. git wants no
 * space after the colon, and takes the line of a cherry-pick for one too; a URL is none.
 */
function quotedLines(text: string): string {
  return text.replace(/^(?=[A-Za-z0-9-]+[ \t]*:(?!\/\/)|\(cherry picked from commit )/gm, '> ');
}
