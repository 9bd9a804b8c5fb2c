/** The functions every test runner has: pass jest's, vitest's or node:test's. */
export interface TestRunner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>, timeoutMs?: number): void;
}

/** A runner that can also show that something was left out. */
export interface SkippableRunner extends TestRunner {
  readonly describe: TestRunner['describe'] & { skip(name: string, body: () => void): void };
}
