import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isLitterboxError } from '../domain/errors/errors.ts';
import { parseConfig } from './parse-config.ts';
import { trustText } from './trust-text.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));

/** Every key once, with a value that is taken. */
const WHOLE = `provider = "overlayfs"
source = "head"
worktrees = "eager"
mounts = []
secrets = ["API_TOKEN"]
[container]
base-image = "registry.example.org:5000/a/b:1.2@sha256:${'0'.repeat(64)}"
setup-command = [["npm", "ci"], ["make"]]
env = { A = "1", "B" = 'two' }
ports = { web = 8080, api = { target = 9000 }, free = {} }
[container.services.db]
command = ["postgres", "-D", "/data"]
signals = { stop = "SIGINT" }
[limits]
memory = "2GiB"
cpus = 1.5
timeout = "1h30m"
[network]
run = "allow-list"
allow = ["registry.npmjs.org", "*.example.org:8443"]
deny = ["evil.example.org"]
[ssh]
host = "build.example.org"
port = 22
[overlayfs]
rootfs = "/srv/root"
`;
const LINES = WHOLE.split('\n');

const mutation = fc.oneof(
  fc.record({
    kind: fc.constant('set' as const),
    at: fc.nat(WHOLE.length),
    text: fc.string({ unit: 'binary', maxLength: 3 }),
    count: fc.nat(4),
  }),
  fc.record({
    kind: fc.constant('line' as const),
    at: fc.nat(LINES.length),
    from: fc.nat(LINES.length),
    count: fc.nat(1),
  }),
  fc.record({
    kind: fc.constant('value' as const),
    at: fc.nat(LINES.length),
    value: fc.constantFrom(
      '""',
      '0',
      '-1',
      'nan',
      'inf',
      'true',
      '[]',
      '{}',
      '[[]]',
      '"\\u0000"',
      '"\\u202e"',
      '1979-05-27',
      '"""\nx"""',
      "''",
      '"__proto__"',
      '{ __proto__ = 1 }',
    ),
  }),
);

function mutate(text: string, change: typeof mutation extends fc.Arbitrary<infer One> ? One : never): string {
  if (change.kind === 'set') return text.slice(0, change.at) + change.text + text.slice(change.at + change.count);
  const lines = text.split('\n');
  if (change.kind === 'line') lines.splice(change.at, change.count, LINES[change.from] ?? '');
  else lines[change.at] = (lines[change.at] ?? '').replace(/=.*$/s, `= ${change.value}`);
  return lines.join('\n');
}

test('a good file that was changed anywhere is taken or refused by name, with its place and a hint, and asked about in one line a key', () => {
  expect(parseConfig(WHOLE, 'x').warnings).toEqual([]);
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 5 }), (changes) => {
      const text = changes.reduce(mutate, WHOLE);
      try {
        const { config, warnings } = parseConfig(text, 'x.toml');
        for (const { message } of warnings) expect(message).not.toMatch(/[\n\0\u202e]/);
        // What a person agrees to: each line is one key, whatever the values hold.
        for (const line of trustText(config).split('\n').filter(Boolean)) expect(line).toMatch(/^[a-z][\w.-]* = \S/);
      } catch (error) {
        if (!isLitterboxError(error)) throw error;
        expect({ message: error.message, hint: error.details.hint }).toEqual({
          message: expect.stringMatching(/^x\.toml[: ][^\n\0\u202e]+$/),
          hint: expect.any(String),
        });
      }
    }),
    { numRuns: runs(2000) },
  );
});
