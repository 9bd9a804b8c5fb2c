import type { Performer } from 'litterbox/performer';

type Answers = Readonly<Record<string, (input: never) => unknown>>;

/** Operations that were carried out, and what they gave: a page without a machine. */
export interface FakeWorks extends Performer {
  readonly asked: { readonly operation: string; readonly input: unknown }[];
}

export const TIP = '1'.repeat(40);

/** A sandbox with a patch, whatever stands in it. */
export function fakeWorks(patch: () => AsyncIterable<Uint8Array>, files: number, more: Answers = {}): FakeWorks {
  const asked: FakeWorks['asked'] = [];
  const answers: Answers = {
    'sandbox-list': () => [
      {
        name: 'hostile',
        state: 'ready',
        provider: 'overlayfs',
        repository: '/home/me/shop',
        createdAtMs: 0,
        work: { revisions: 1, unmilestoned: 1, files, addedLines: 1, removedLines: 0 },
      },
    ],
    'sandbox-forecast': () => ({ conflicts: [], compared: ['hostile'], leftOut: 0, untried: 0 }),
    'sandbox-plan': () => PLAN,
    'sandbox-diff': () => ({
      tip: TIP,
      files: async () => Array.from({ length: files }),
      patch,
      markShown: async () => {},
    }),
    'sandbox-log': () => [],
    'sandbox-notes': () => ({ notes: [] }),
    ...more,
  };
  return {
    asked,
    async perform(operation, input) {
      asked.push({ operation: operation.name, input });
      return (await answers[operation.name]?.(input as never)) as never;
    },
    async [Symbol.asyncDispose]() {},
  };
}

export const PLAN = {
  integration: 'merge',
  slug: 'hostile',
  tip: TIP,
  head: '2'.repeat(40),
  headRef: 'refs/heads/main',
  changes: [],
  conflicts: [],
  risky: [],
  dirtyOverlap: [],
  upToDate: false,
  unmilestoned: 0,
  messages: [],
  proof: { tests: [], looked: 0, isMore: false },
};

/** A patch that adds files of numbered lines. */
export async function* numberedPatch(files: number, lines: number): AsyncGenerator<Uint8Array> {
  for (let file = 0; file < files; file++) {
    const body = Array.from(
      { length: lines },
      (_, line) => `+export const name${line} = 'text of ${file}'; // ${line}`,
    );
    const path = `src/folder${file % 40}/file${file}.ts`;
    yield Buffer.from(
      `diff --git a/${path} b/${path}\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines} @@\n${body.join('\n')}\n`,
    );
  }
}
