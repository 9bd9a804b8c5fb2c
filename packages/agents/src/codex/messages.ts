import * as z from 'zod';

/**
 * The messages of Codex's exec server that are answered here, as codex-cli 0.169.0 sends them: JSON with `id`, `method` and `params`,
 * without the member `jsonrpc`; paths as `file:` addresses, bytes in base64. Members that are not named here are passed over, as its own
 * server does. Seen between the two programs themselves; the types are those of openai/codex, `codex-rs/exec-server-protocol`.
 */
export const SEEN_WITH = '0.169.0';

/** A file of 64 MiB in base64, with what is around it. */
export const MAX_MESSAGE_BYTES = 96 * 2 ** 20;

/** Of JSON-RPC, and one of Codex's own for what is not there. */
export const ERRORS = {
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  notFound: -32_004,
} as const;

const path = z.string().transform((text, context) => {
  const path = pathOf(text);
  if (path !== undefined) return path;
  context.addIssue({ code: 'custom', message: 'not the file: address of an absolute path' });
  return z.NEVER;
});
const bytes = z.base64().transform((text) => Buffer.from(text, 'base64'));
const processId = z.string().min(1).max(256);
/** Codex asks its server to sandbox what it starts. Absent or null, or of the type `disabled`: as it is. */
const asksForWall = z
  .object({ permissions: z.object({ type: z.string() }).loose() })
  .loose()
  .nullish()
  .transform((sandbox) => sandbox?.permissions !== undefined && sandbox.permissions.type !== 'disabled');

export const message = z.object({
  id: z.union([z.number(), z.string()]).optional(),
  method: z.string(),
  params: z.unknown(),
});

const onPath = { path, sandbox: asksForWall };

export const params = {
  initialize: z.object({ clientName: z.string(), resumeSessionId: z.string().nullish() }),
  'process/start': z.object({
    processId,
    metadata: z.object({ toolCallId: z.string().nullish() }).nullish(),
    argv: z.tuple([z.string().min(1)], z.string()),
    cwd: path,
    envPolicy: z.object({ set: z.record(z.string(), z.string()).nullish() }).nullish(),
    env: z.record(z.string(), z.string()),
    tty: z.boolean(),
    pipeStdin: z.boolean().nullish(),
    arg0: z.string().nullish(),
    sandbox: asksForWall,
    enforceManagedNetwork: z.boolean().nullish(),
  }),
  'process/read': z.object({
    processId,
    afterSeq: z.int().min(0).nullish(),
    maxBytes: z.int().min(0).nullish(),
    waitMs: z.int().min(0).nullish(),
  }),
  'process/write': z.object({ processId, chunk: bytes, writeId: z.string().nullish() }),
  'process/signal': z.object({ processId, signal: z.literal('interrupt') }),
  'process/terminate': z.object({ processId }),
  'fs/getMetadata': z.object(onPath),
  'fs/canonicalize': z.object(onPath),
  'fs/readFile': z.object(onPath),
  'fs/readDirectory': z.object(onPath),
  'fs/walk': z.object({
    ...onPath,
    options: z.object({
      maxDepth: z.int().min(0),
      maxDirectories: z.int().min(0),
      maxEntries: z.int().min(0),
      followDirectorySymlinks: z.boolean(),
      pruneHiddenDirectories: z.boolean(),
    }),
  }),
  'fs/writeFile': z.object({ ...onPath, dataBase64: bytes }),
  'fs/createDirectory': z.object({ ...onPath, recursive: z.boolean().nullish() }),
  'fs/remove': z.object({ ...onPath, recursive: z.boolean().nullish(), force: z.boolean().nullish() }),
  'fs/copy': z.object({ sourcePath: path, destinationPath: path, recursive: z.boolean(), sandbox: asksForWall }),
  'fs/watchMissing': z.object({}),
  'environment/info': z.object({}).nullish(),
  'environmentConfig/read': z.object({}),
} as const;

export type Method = keyof typeof params;
export type ParamsOf<Name extends Method> = z.output<(typeof params)[Name]>;

export const isMethod = (name: string): name is Method => Object.hasOwn(params, name);

/** An absolute path inside, as Codex writes it. */
export function addressOf(path: string): string {
  return `file://${path.split('/').map(encodeURIComponent).join('/')}`;
}

function pathOf(address: string): string | undefined {
  if (!address.startsWith('file:///') || /[?#]/.test(address)) return undefined;
  try {
    const path = decodeURIComponent(address.slice('file://'.length));
    return path.includes('\0') ? undefined : path;
  } catch {
    return undefined; // no UTF-8
  }
}
