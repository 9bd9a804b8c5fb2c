/** The functions every test runner has: pass jest's, vitest's or node:test's. */
export interface TestRunner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>, timeoutMs?: number): void;
  /**
   * Runs once all tests of the `describe` around it have ended. With it, tests that leave nothing behind share a sandbox; without it each
   * makes its own, which takes longer. node:test calls it `after`.
   */
  afterAll?(body: () => Promise<void>, timeoutMs?: number): void;
}

/** A runner that can also show that something was left out. */
export interface SkippableRunner extends TestRunner {
  readonly describe: TestRunner['describe'] & { skip(name: string, body: () => void): void };
}
