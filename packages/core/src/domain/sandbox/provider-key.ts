import { LitterboxError } from '../errors/errors.ts';
import { advice, type Hint, step } from '../errors/next-step.ts';
import { shown } from '../text/shown.ts';

/** `overlayfs`, `docker@build-box`: a way to make sandboxes and the machine that it makes them on. Kept in records, shown to people. */
export type ProviderKey = string;

/** What a provider's key says. */
export interface ProviderPlace {
  /** The way of making sandboxes: `overlayfs`, `docker`. */
  readonly kind: string;
  /** Name of the machine; {@link LOCAL_HOST} where the key names none. */
  readonly host: string;
}

/** The machine that this program runs on. Reserved, and never written in a key. */
export const LOCAL_HOST = 'local';

const KIND = /^[a-z][a-z0-9-]{0,62}$/;
/** A name, or a way to machines and the name of one of them: `build-box`, `vm:default`. Safe as a path segment, and never an option of a command line. */
const HOST = /^(?:[a-z]{2,15}:)?[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/;

/** Whether a machine can have that name in a key. */
export const isHostName = (text: string): boolean => HOST.test(text) && !text.includes('..');

/** The one spelling of a name that a person writes: behind a way, names of machines differ by more than their capitals. */
export const normalHostName = (text: string): string => (text.includes(':') ? text.toLowerCase() : text);

/**
 * Reads `KIND` or `KIND@HOST`. Every provider has one spelling: the local machine is not written.
 *
 * @throws LitterboxError `INVALID_ARGUMENT`
 */
export function parseProviderKey(text: string): ProviderPlace {
  const at = text.indexOf('@');
  const kind = at < 0 ? text : text.slice(0, at);
  const host = at < 0 ? LOCAL_HOST : text.slice(at + 1);
  if (!KIND.test(kind))
    throw invalid(text, 'Begin with a kind: small letters, digits and hyphens, such as docker or docker@build-box.');
  if (!isHostName(host))
    throw invalid(
      text,
      advice`After @ write a machine's name: at most 63 small letters, digits, dots, hyphens and underscores, such as docker@build-box, or one of ${step('host-list')}.`,
    );
  if (at >= 0 && host === LOCAL_HOST) throw invalid(text, `For this machine write ${kind} alone.`);
  return { kind, host };
}

/** The key of a kind on a machine. The other way round of {@link parseProviderKey}. */
export const providerKey = ({ kind, host }: ProviderPlace): ProviderKey =>
  host === LOCAL_HOST ? kind : `${kind}@${host}`;

function invalid(text: string, hint: Hint): LitterboxError {
  return new LitterboxError(
    'INVALID_ARGUMENT',
    `${shown(text)} is not the key of a provider; want KIND or KIND@HOST.`,
    {
      operation: 'provider.find',
      hint,
    },
  );
}
