import type { SkippableRunner, TestRunner } from './runner.ts';

/**
 * Picks the real suite or a visible skip. A job that sets `LITTERBOX_REQUIRE=overlayfs,docker` turns an absent backend into a
 * failure, so that it can never be green by testing nothing.
 *
 * @param probe resolves to `undefined` when the backend is usable, else to the reason why not
 */
export async function forBackend(
  name: string,
  runner: SkippableRunner,
  probe: () => Promise<string | undefined>,
): Promise<TestRunner> {
  const absent = await probe();
  if (absent === undefined) return runner;
  const required = (globalThis.process?.env['LITTERBOX_REQUIRE'] ?? '').split(',').includes(name);
  if (required) throw new Error(`LITTERBOX_REQUIRE names '${name}', but it is not usable: ${absent}`);
  return {
    describe: (title, body) => runner.describe.skip(`${title} (skipped: ${absent})`, body),
    it: (title, body, timeoutMs) => runner.it(title, body, timeoutMs),
    ...(runner.afterAll && { afterAll: (body, timeoutMs) => runner.afterAll?.(body, timeoutMs) }),
  };
}
