import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fixture, RepositoryFixture } from '@litterbox/testing';
import type { Story } from './plots.ts';

const LITTERBOX = fileURLToPath(new URL('../../../cli/bin/litterbox.cjs', import.meta.url));

/** Where the engines of the tests are. */
const ENGINES = Object.fromEntries(
  ['DOCKER_HOST', 'CONTAINER_HOST'].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
) as Readonly<Record<string, string>>;

/** A person's machine, as far as a client sees it: a home, a repository and `litterbox` in the PATH. */
export interface AgentFixture extends Fixture {
  readonly scratch: RepositoryFixture;
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The person's `litterbox`. */
  litterbox(...args: readonly string[]): SpawnSyncReturns<string>;
  /** What the client sent to `litterbox mcp`, message by message. */
  sent(): readonly Record<string, unknown>[];
}

export function agentFixture({ files, programs }: Pick<Story, 'files' | 'programs'>): AgentFixture {
  const fixture = new Fixture();
  const scratch = fixture.use(new RepositoryFixture(files));
  for (const [path, text] of Object.entries(programs)) {
    mkdirSync(dirname(join(scratch.repository, path)), { recursive: true });
    writeFileSync(join(scratch.repository, path), text, { mode: 0o755 });
  }
  const [home, bin, heard] = ['home', 'bin', 'heard.jsonl'].map((name) => join(scratch.directory, name)) as [
    string,
    string,
    string,
  ];
  for (const directory of [home, bin]) mkdirSync(directory);
  const node = process.execPath;
  writeFileSync(
    join(bin, 'litterbox'),
    `#!/bin/sh\n[ "$1" = mcp ] || exec '${node}' '${LITTERBOX}' "$@"\ntee -a '${heard}' | '${node}' '${LITTERBOX}' "$@"\n`,
    { mode: 0o755 },
  );
  const environment = {
    PATH: `${bin}:${dirname(node)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
    HOME: home,
    LITTERBOX_HOME: scratch.stateDirectory,
    GIT_CONFIG_NOSYSTEM: '1',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...ENGINES,
  };
  const litterbox: AgentFixture['litterbox'] = (...args) =>
    spawnSync(join(bin, 'litterbox'), args, { cwd: scratch.repository, env: environment, encoding: 'utf8' });
  fixture.defer(() => {
    const { stdout } = litterbox('list', '--json');
    const left = JSON.parse(stdout || '[]') as readonly { readonly name: string }[];
    for (const { name } of left) litterbox('delete', name, '--force');
  });
  return Object.assign(fixture, {
    scratch,
    home,
    environment,
    litterbox,
    sent() {
      const lines = existsSync(heard) ? readFileSync(heard, 'utf8').split('\n').filter(Boolean) : [];
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
  });
}
