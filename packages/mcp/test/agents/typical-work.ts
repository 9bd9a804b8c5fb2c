import type { TokenServer } from './token-server.ts';

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `${line(index + 1)}\n`).join('');

const module = (index: number) =>
  lines(30, (n) =>
    n === 6 || (n === 18 && index < 10) ? `  return await needle(input, ${n});` : `  const part${n} = input.at(${n});`,
  );

const LOG = `i=0
while [ $i -lt 10000 ]; do
  i=$((i+1))
  echo "[build] compiled module $i of 10000 in $((i % 90 + 3)) ms"
done
`;

const SUITE = `i=0
while [ $i -lt 200 ]; do
  i=$((i+1))
  echo "ok $i - case $i of the suite"
done
cat <<'END'
not ok 201 - adds two numbers
  ---
  error: 'Expected values to be strictly equal: -1 !== 5'
  code: 'ERR_ASSERTION'
  stack: |-
    TestContext.<anonymous> (add.test.js:5:10)
  ...
# tests 201
# pass 200
# fail 1
END
exit 1
`;

/** What the answers are about: a long file, a directory with forty, a word on fifty lines, two programs that print much. */
export const FILES: Readonly<Record<string, string>> = {
  'long.ts': lines(400, (n) => `export const step${n} = (value: number) => value * ${n} + offsets[${n % 7}];`),
  'log.sh': LOG,
  'test.sh': SUITE,
  ...Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`src/module-${index}.ts`, module(index)])),
};

const holds =
  (...words: readonly string[]) =>
  (text: string) =>
    words.every((word) => text.includes(word));

/** What is asked, and whether an answer holds all of it. */
export const TASKS = {
  'read 100 lines of a file': holds('step1 ', 'step100 '),
  'list a directory of 40 files': holds('module-0.ts', 'module-39.ts'),
  'find a word on 50 lines': (text: string) => text.split('needle').length > 50,
  'run what prints 10,000 lines': holds('module 1 of', 'module 10000 of'),
  'run 201 tests, one fails': holds('not ok 201', '-1 !== 5', '# fail 1'),
} as const;
export type Task = keyof typeof TASKS;

/** How a server does the tasks; what is absent it has no tool for. */
export type Ways = Readonly<Partial<Record<Task, (server: TokenServer) => Promise<string>>>>;

const byCommands = (run: (server: TokenServer, command: string) => Promise<string>): Required<Ways> => ({
  'read 100 lines of a file': async (server) => await run(server, 'head -n 100 long.ts'),
  'list a directory of 40 files': async (server) => await run(server, 'ls -la src'),
  'find a word on 50 lines': async (server) => await run(server, 'grep -rn needle .'),
  'run what prints 10,000 lines': async (server) => await run(server, 'sh log.sh'),
  'run 201 tests, one fails': async (server) => await run(server, 'sh test.sh'),
});

export const litterboxWays = (sandbox: string): Ways => ({
  ...byCommands(async (server, command) => await server.call('bash', { sandbox, command })),
  'read 100 lines of a file': async (server) => await server.call('read', { sandbox, path: 'long.ts', limit: 100 }),
  'list a directory of 40 files': async (server) => await server.call('ls', { sandbox, path: 'src' }),
  'find a word on 50 lines': async (server) => await server.call('grep', { sandbox, pattern: 'needle' }),
});

export const commandServerWays: Ways = byCommands(
  async (server, command) => await server.call('run_command', { command }),
);

export const fileServerWays = (directory: string): Ways => ({
  'read 100 lines of a file': async (server) =>
    await server.call('read_text_file', { path: `${directory}/long.ts`, head: 100 }),
  'list a directory of 40 files': async (server) => await server.call('list_directory', { path: `${directory}/src` }),
});

export const desktopCommanderWays = (directory: string): Ways => ({
  ...byCommands(
    async (server, command) =>
      await server.call('start_process', { command: `cd ${directory} && ${command}`, timeout_ms: 20_000 }),
  ),
  'read 100 lines of a file': async (server) =>
    await server.call('read_file', { path: `${directory}/long.ts`, offset: 0, length: 100 }),
  'list a directory of 40 files': async (server) =>
    await server.call('list_directory', { path: `${directory}/src`, depth: 1 }),
  async 'find a word on 50 lines'(server) {
    const search = { path: directory, pattern: 'needle', searchType: 'content', contextLines: 0 };
    const started = await server.call('start_search', search);
    const [, session] = /session(?: ID)?: (\S+)/i.exec(started) ?? [];
    return session === undefined
      ? started
      : `${started}\n${await server.call('get_more_search_results', { sessionId: session })}`;
  },
});
