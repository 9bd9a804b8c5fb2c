import { expect, test } from '@jest/globals';
import { testIn } from './test-in.ts';

test.each([
  'npm test',
  'npm t',
  'npm run test:unit -- --watch=false',
  'pnpm --filter web test',
  'yarn workspace api test',
  'CI=1 FOO="a b" npx jest src/a.test.ts 2>&1',
  'cd api && timeout 60 pytest -q',
  'python3 -m pytest tests',
  'poetry run pytest',
  'python -m unittest',
  'cargo test --workspace',
  'cargo nextest run',
  'go test ./...',
  './gradlew :app:test',
  'mvn -q verify',
  'make -j4 check',
  'node --test',
  'node --no-warnings --test test/',
  './run_tests.sh',
  'python3 run_tests.py',
  'node test/all.js',
  'bundle exec rspec',
  'set -e\nnpm ci\nnpm test\n',
  'npm test && npm run lint',
  'npm ci >log 2>&1; npm test',
  'deno test --allow-read',
  'ctest --output-on-failure',
  './node_modules/.bin/vitest run',
  'sh -c cd api && npm test',
  'bash -lc "npm ci && npm test"',
])('%j is a test, and its exit status the one of it', (command) => {
  expect(testIn(command)).toEqual({ isOwnExit: true });
});

test.each([
  'npm test || true',
  'npm test; echo done',
  'npm test | tail -5',
  'npm test &',
  'npm test\nexit 0',
  'pytest; exit 0',
  'npm test && npm run lint || echo no',
  'npm test <<END\nEND',
])('%j is a test whose exit status is that of something else', (command) => {
  expect(testIn(command)).toEqual({ isOwnExit: false });
});

test.each([
  'echo npm test',
  "sh -c 'echo npm test'",
  'cat test.log',
  "echo 'a; npm test'",
  'echo "x && pytest"',
  'echo a \\; npm test',
  'true # npm test',
  'cat >notes <<END\nnpm test\nEND',
  'git commit -m "make test pass"',
  'npm install test',
  'ls tests',
  'grep -r jest .',
  'mkdir -p test/unit',
  'npm run build',
  'rm -rf test.sh',
  'python3 -c "print(open(\'ci.log\').read())"',
  '',
])('%j is no test', (command) => {
  expect(testIn(command)).toBeUndefined();
});

test('a long hostile text is read without going back over it', () => {
  const words = ['npm -a ', 'a=b ', 'make x ', '"', '\\', 'node -x ', 'timeout 1 ', 'python -m '];
  const long = (word: string) => word.repeat(Math.ceil(4096 / word.length));
  expect(words.map((word) => testIn(long(word)))).toEqual(words.map(() => undefined));
});

test('AX222: shells within shells, thousands deep, are no test', () => {
  expect(testIn(`sh -c "sh -c 'npm test'"`)).toEqual({ isOwnExit: true });
  expect(testIn('sh -c "'.repeat(10_000) + '"'.repeat(10_000))).toBeUndefined();
});
