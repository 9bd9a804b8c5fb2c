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

/** Reads secrets of this machine: by `secret-tool`, by `pass`, of its environment, of files. */
export function hostSecrets(host: Host): SecretSource {
  return {
    async read(origin, options) {
      options?.signal?.throwIfAborted();
      return checked(await textOf(host, origin, options), origin);
    },
  };
}

async function textOf(host: Host, origin: SecretOrigin, options?: CallOptions): Promise<string> {
  if ('environment' in origin) return host.environment[origin.environment] ?? '';
  if ('file' in origin) return await readOwnFile(host, origin, options);
  if ('pass' in origin) {
    const text = await askProgram(host, origin, ['pass', 'show', '--', origin.pass], options);
    return text.split('\n', 1)[0] ?? '';
  }
  return await askProgram(host, origin, ['secret-tool', 'lookup', 'litterbox', origin.keychain], options);
}

async function readOwnFile(host: Host, origin: { readonly file: string }, options?: CallOptions): Promise<string> {
  const stat = await host.files.stat(origin.file, options);
  if (stat === undefined) throw notFound(origin);
  const { uid } = await host.facts(options);
  if (stat.type !== 'file' || stat.uid !== uid || (stat.mode & RIGHTS_OF_OTHERS) !== 0) {
    throw new LitterboxError(
      'PERMISSION_DENIED',
      `Litterbox does not read the secret of ${shown(origin.file)}: it has to be a file of yours with mode 0600, and no link.`,
      {
        operation: OPERATION,
        hint: `Change whatever somebody else could have read there, then: chmod 600 ${quoted(origin.file)}`,
      },
    );
  }
  const bytes = await host.files.read(origin.file, { ...options, maxBytes: MAX_BYTES });
  return decodeRaw(bytes ?? new Uint8Array());
}

/** Gives the text that the program prints; its complaints are not repeated. */
async function askProgram(
  host: Host,
  origin: SecretOrigin,
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
  if (code === 0) return decodeRaw(joinBytes(parts)); // at once: a character may lie in two pieces
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

function otherShape(origin: SecretOrigin): LitterboxError {
  return new LitterboxError(
    'UNSUPPORTED',
    `The secret in ${shown(originText(origin))} is not one line of ${MAX_SECRET_CHARACTERS} characters at most.`,
    { operation: OPERATION, hint: 'Keep one token there, on one line.' },
  );
}
