import * as z from 'zod';

/** Most seconds that a program may give a sandbox. */
export const MAX_TIMEOUT_SECONDS = 86_400;
const seconds = z.int().min(0).max(MAX_TIMEOUT_SECONDS);
const words = z.record(z.string(), z.string());

/** The body of a create. What cannot be honoured is here too, so that it is refused by name. */
export const newSandbox = z.object({
  templateID: z.string().max(256),
  timeout: seconds.optional(),
  metadata: words.nullish(),
  envVars: words.nullish(),
  autoPause: z.boolean().nullish(),
  autoPauseMemory: z.boolean().nullish(),
  autoResume: z.object({ enabled: z.boolean() }).nullish(),
  allow_internet_access: z.boolean().nullish(),
  network: z
    .object({ allowOut: z.array(z.string()).nullish(), denyOut: z.array(z.string()).nullish() })
    .loose()
    .nullish(),
  mcp: z.unknown().optional(),
  iam: z.unknown().optional(),
  volumeMounts: z.array(z.unknown()).nullish(),
});
export type NewSandbox = z.output<typeof newSandbox>;

export const timeoutBody = z.object({ timeout: seconds });
export const pauseBody = z.object({ memory: z.boolean().nullish() });
export const connectBody = z.object({ timeout: seconds.optional(), memory: z.boolean().nullish() });
export const forkBody = z.object({ timeout: seconds.optional(), count: z.int().min(1).max(100).optional() });

export const snapshotBody = z.object({ name: z.string().max(256).optional() });
export const snapshotQuery = z.object({ sandboxID: z.string().optional(), name: z.string().optional() });

export const listQuery = z.object({
  metadata: z.string().optional(),
  state: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(['running', 'paused'])))
    .optional(),
  startedAfter: z.iso.datetime().optional(),
  template: z.string().optional(),
  order: z.enum(['asc', 'desc']).optional(),
  limit: z.coerce.number().int().min(1).max(100).optional(),
  nextToken: z.coerce.number().int().min(0).optional(),
});
export type ListQuery = z.output<typeof listQuery>;
