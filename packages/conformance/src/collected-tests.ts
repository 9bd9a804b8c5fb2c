import type { TestRunner } from './runner.ts';

/** A test of the kit that was kept instead of run. */
export interface CollectedTest {
  /** `sharing` of `SandboxProvider contract, sharing: NAME`; the whole title where a suite has no groups. */
  readonly group: string;
  readonly title: string;
  /** Runs it and says how it failed; undefined when it passed. A test that does not end in time has failed. */
  failure(timeoutMs?: number): Promise<Error | undefined>;
}

/** The tests that a suite of the kit gives its runner, in their order; none is run. */
export function collectedTests(describe: (runner: TestRunner) => void): readonly CollectedTest[] {
  const tests: CollectedTest[] = [];
  let group = '';
  describe({
    describe: (name, body) => {
      group = /, ([^:]+):/.exec(name)?.[1] ?? name;
      body();
    },
    it: (title, body) =>
      void tests.push({ group, title, failure: (timeoutMs = 60_000) => failureWithin(body, timeoutMs) }),
  });
  return tests;
}

/**
 * Runs one test of a suite and says how it failed; undefined when it passed: for tests of what the kit is to catch.
 *
 * @param timeoutMs a test that takes longer has failed. @defaultValue 60_000
 * @throws Error when no test or several have that title
 */
export async function failureOf(
  describe: (runner: TestRunner) => void,
  title: string,
  timeoutMs?: number,
): Promise<Error | undefined> {
  const [test, ...more] = collectedTests(describe).filter((one) => one.title === title);
  if (!test || more.length > 0) throw new Error(`The kit has ${test ? more.length + 1 : 'no'} tests '${title}'.`);
  return await test.failure(timeoutMs);
}

async function failureWithin(body: () => Promise<void>, timeoutMs: number): Promise<Error | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  // It also keeps the program running where nothing else does.
  const late = new Promise<Error>((resolve) => {
    timer = setTimeout(() => resolve(new Error(`It did not end within ${timeoutMs} ms.`)), timeoutMs);
  });
  try {
    return await Promise.race([
      body().then(
        () => undefined,
        (reason: unknown) => (reason ?? new Error('It rejected with nothing.')) as Error,
      ),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}
