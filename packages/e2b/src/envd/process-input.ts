import * as z from 'zod';

const selector = z.object({ process: z.object({ pid: z.int().min(0).optional(), tag: z.string().optional() }) });
const size = z.object({ size: z.object({ cols: z.int().min(1).max(65_535), rows: z.int().min(1).max(65_535) }) });
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const bytes = z
  .string()
  .regex(BASE64, 'want base64')
  .transform((text) => Buffer.from(text, 'base64'));

/** Messages of the service `process.Process`, as JSON has them. Whatever is left out has its zero value. */
export const startRequest = z.object({
  process: z.object({
    cmd: z.string().min(1),
    args: z.array(z.string()).default([]),
    envs: z.record(z.string(), z.string()).default({}),
    cwd: z.string().optional(),
  }),
  pty: size.optional(),
  tag: z.string().max(256).optional(),
  stdin: z.boolean().default(true),
});
export const listRequest = z.object({});
export const connectRequest = selector;
export const sendInputRequest = selector.extend({
  input: z.object({ stdin: bytes.optional(), pty: bytes.optional() }).default({}),
});
export const signalRequest = selector.extend({ signal: z.enum(['SIGNAL_SIGTERM', 'SIGNAL_SIGKILL']) });
export const updateRequest = selector.extend({ pty: size });
