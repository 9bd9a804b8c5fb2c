import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import {
  type CallOptions,
  decodeRaw,
  joinBytes,
  type Host,
  LitterboxError,
  MAX_SECRET_CHARACTERS,
  originText,
  quoted,
  type SecretOrigin,
  type SecretSource,
  shown,
} from '@litterbox/core/provider';

const OPERATION = 'secret.read';
/** A character takes four bytes at most; `pass` may have lines below the first. */
const MAX_BYTES = 4 * MAX_SECRET_CHARACTERS;
const RIGHTS_OF_OTHERS = 0o077;
/** As long as a person may need to find and type a passphrase. */
const ASK_MS = 120_000;
/** No link, and no wait for who would write into a pipe. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** How the two programs find the session's keyring, the store and its keys. */
const PASSED_ON = [
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'GNUPGHOME',
  'GPG_TTY',
  'PASSWORD_STORE_DIR',
  'WAYLAND_DISPLAY',
  'XDG_RUNTIME_DIR',
];

export interface HostSecretsOptions {
  /** How long a program may take to answer, in milliseconds. @defaultValue two minutes: it may ask the person for a passphrase */
  readonly timeoutMs?: number;
}

/** Reads secrets of this machine: by `secret-tool`, by `pass`, of its environment, of files. */
export function hostSecrets(host: Host, { timeoutMs = ASK_MS }: HostSecretsOptions = {}): SecretSource {
  const textOf = async (origin: SecretOrigin, options?: CallOptions): Promise<string> => {
    if ('environment' in origin) return host.environment[origin.environment] ?? '';
    if ('file' in origin) return await readOwnFile(origin);
    const argv = argvOf(origin);
    const late = AbortSignal.timeout(timeoutMs);
    const signal = options?.signal ? AbortSignal.any([options.signal, late]) : late;
    try {
      return await askProgram(host, origin, argv, { signal });
    } catch (error) {
      options?.signal?.throwIfAborted();
      throw late.aborted ? unanswered(origin, argv, timeoutMs) : error;
    }
  };
  return {
    async read(origin, options) {
      options?.signal?.throwIfAborted();
      return checked(await textOf(origin, options), origin);
    },
  };
}

/** Where a program is asked for it. */
type AskedOrigin = Exclude<SecretOrigin, { readonly environment: string } | { readonly file: string }>;

function argvOf(origin: AskedOrigin): readonly [string, ...string[]] {
  return 'pass' in origin
    ? ['pass', 'show', '--', origin.pass]
    : ['secret-tool', 'lookup', 'litterbox', origin.keychain];
}

/** Looks at the file that it then reads, and at no other: what the path leads to may change in between. */
async function readOwnFile(origin: { readonly file: string }): Promise<string> {
  const file = await open(origin.file, OPEN_FLAGS).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') throw notFound(origin);
    throw notOwn(origin);
  });
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.uid !== process.getuid?.() || (stat.mode & RIGHTS_OF_OTHERS) !== 0) throw notOwn(origin);
    const { buffer, bytesRead } = await file.read(new Uint8Array(MAX_BYTES + 1), 0, MAX_BYTES + 1, 0);
    if (bytesRead > MAX_BYTES) throw otherShape(origin);
    return decodeRaw(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** Gives the text that the program prints; its complaints are not repeated. */
async function askProgram(
  host: Host,
  origin: AskedOrigin,
  argv: readonly [string, ...string[]],
  options?: CallOptions,
): Promise<string> {
  const passedOn = PASSED_ON.flatMap((name) => {
    const value = host.environment[name];
    return value === undefined ? [] : [`${name}=${value}`];
  });
  // By env, so that PATH stays that of our own programs, which no repository chooses.
  await using program = await host.spawn({ argv: ['env', ...passedOn, ...argv], stdin: 'none' }, options);
  const parts: Uint8Array[] = [];
  let [complaint, sizeBytes] = ['', 0];
  for await (const { type, bytes } of program) {
    sizeBytes += bytes.length;
    if (sizeBytes > MAX_BYTES) throw otherShape(origin);
    if (type === 'stdout-data') parts.push(bytes);
    else complaint += decodeRaw(bytes);
  }
  const { code } = await program.exit;
  const text = decodeRaw(joinBytes(parts)); // at once: a character may lie in two pieces
  if (code === 0) return 'pass' in origin ? (text.split('\n', 1)[0] ?? '') : text;
  const name = argv[0];
  if (code === 127) {
    throw new LitterboxError(
      'TOOL_MISSING',
      `Litterbox cannot read the secret of ${shown(originText(origin))}: there is no ${name}.`,
      {
        operation: OPERATION,
        hint: `Install ${name}, or keep the secret elsewhere and name that place below [secrets].`,
      },
    );
  }
  const isUnknown =
    name === 'pass' ? complaint.includes('is not in the password store') : code === 1 && complaint === '';
  if (isUnknown) throw notFound(origin);
  throw new LitterboxError('UNAVAILABLE', `${name} failed to read the secret of ${shown(originText(origin))}.`, {
    operation: OPERATION,
    hint: `Run it yourself, and see what it says: ${argv.map(quoted).join(' ')}`,
  });
}

function checked(text: string, origin: SecretOrigin): string {
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw notFound(origin);
  if (value.length > MAX_SECRET_CHARACTERS || /\p{Cc}/u.test(value)) throw otherShape(origin);
  return value;
}

function notFound(origin: SecretOrigin): LitterboxError {
  const [store, where] =
    'keychain' in origin
      ? [`secret-tool store --label=${quoted(origin.keychain)} litterbox ${quoted(origin.keychain)}`, 'keep it there']
      : 'pass' in origin
        ? [`pass insert ${quoted(origin.pass)}`, 'keep it there']
        : 'file' in origin
          ? [`(umask 077 && cat > ${quoted(origin.file)})`, 'write it there']
          : [`export ${origin.environment}`, 'set it before litterbox is started'];
  return new LitterboxError('SECRET_NOT_FOUND', `There is no secret in ${shown(originText(origin))}.`, {
    operation: OPERATION,
    hint: `To ${where}: ${store}`,
  });
}

function notOwn({ file }: { readonly file: string }): LitterboxError {
  return new LitterboxError(
    'PERMISSION_DENIED',
    `Litterbox does not read the secret of ${shown(file)}: it has to be a file of yours with mode 0600, and no link.`,
    {
      operation: OPERATION,
      hint: `Change whatever somebody else could have read there, then: chmod 600 ${quoted(file)}`,
    },
  );
}

function unanswered(origin: SecretOrigin, argv: readonly [string, ...string[]], timeoutMs: number): LitterboxError {
  return new LitterboxError(
    'TIMED_OUT',
    `${argv[0]} did not give the secret of ${shown(originText(origin))} within ${timeoutMs / 1000} seconds.`,
    { operation: OPERATION, hint: `Unlock the store, or see what it waits for: ${argv.map(quoted).join(' ')}` },
  );
}

function otherShape(origin: SecretOrigin): LitterboxError {
  return new LitterboxError(
    'UNSUPPORTED',
    `The secret in ${shown(originText(origin))} is not one line of ${MAX_SECRET_CHARACTERS} characters at most.`,
    { operation: OPERATION, hint: 'Keep one token there, on one line.' },
  );
}
