import * as z from 'zod';

/** The audit log's part of one stream: nothing of its text, and how to find that. */
const stream = z.object({
  /** SHA-256 of what is kept. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(0),
  cutAt: z.int().min(0),
  droppedBytes: z.int().min(0),
});

const facts = z.object({ printed: z.object({ stdout: stream.optional(), stderr: stream.optional() }) });

/** The output of a call, as its entry in the audit log has it. A stream that stayed empty is absent. */
export type PrintedFacts = z.output<typeof facts>['printed'];
/** One stream of {@link PrintedFacts}. */
export type PrintedStream = z.output<typeof stream>;

/** @param result of an entry; undefined for a call of which no output was kept */
export function printedFacts(result: Readonly<Record<string, unknown>>): PrintedFacts | undefined {
  return facts.safeParse(result).data?.printed;
}
