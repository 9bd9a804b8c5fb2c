import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { LitterboxErrorCode } from '@litterbox/core';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox, type Litterbox, type LitterboxOptions } from 'litterbox';
import { hostEnvironment, repositoryDigest } from '../../src/index.ts';
import { Fixture, RepositoryFixture } from '@litterbox/testing';

/** One concrete input that must be refused, through every door that takes it. */
export interface BadInput {
  /** `B28: …`: a row of docs/bad-input.md. */
  readonly title: string;
  /** The input as a name of the test. */
  readonly input: string;
  readonly code: LitterboxErrorCode;
  /** What the message says, in order: what, where, what was got, what is wanted. */
  readonly says: readonly string[];
  /** Makes the world in which the input is bad. What it returns puts it right again. */
  readonly arrange?: (fixture: BadInputFixture) => (() => void) | undefined;
  readonly library?: (litterbox: Litterbox, fixture: BadInputFixture) => unknown;
  readonly args?: readonly string[];
  /** Where the words of a command line are refused under another code than the value in a program. */
  readonly atCommandLine?: { readonly code: LitterboxErrorCode; readonly says: readonly string[] };
  /** A directory below that of the repository, or an absolute one. @defaultValue the repository */
  readonly directory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Another state directory, below that of the fixture when it is not absolute; the empty text is taken as it is. */
  readonly home?: string;
}

/** The same through a tool: what a model is told has a code, what is wrong, and a next step. */
export interface BadCall extends Pick<BadInput, 'title' | 'input' | 'code' | 'says' | 'arrange'> {
  readonly tool: string;
  readonly given: Readonly<Record<string, unknown>>;
}

export interface CommandLine {
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A repository with sandboxes in it, a program that has it open, and a command line that stays in memory. */
export interface BadInputFixture extends Fixture {
  readonly scratch: RepositoryFixture;
  readonly litterbox: Litterbox;
  open(repo: string, options?: Partial<LitterboxOptions>): Litterbox;
  say(line: Partial<CommandLine> & Pick<CommandLine, 'args'>): Promise<Said>;
  /** Writes a state into the record of a sandbox, as a program that died would have left it. */
  setState(sandbox: string, state: string): () => void;
  /** All that a refusal must leave alone: the repository, the records, the histories, what the sandboxes are made of. */
  digest(): Readonly<Record<string, string>>;
}

const SERVER = new URL('command-line-server.ts', import.meta.url).pathname;

export async function badInputFixture(): Promise<BadInputFixture> {
  const fixture = new Fixture();
  const scratch = fixture.use(new RepositoryFixture({ 'src/a.txt': 'a\n', '.gitignore': 'ignored/\n' }));
  const { repository, stateDirectory, directory } = scratch;
  const environment = { HOME: directory, LITTERBOX_HOME: stateDirectory, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C.UTF-8' };
  fixture.use(await hostEnvironment(environment));
  const opened: Litterbox[] = [];
  const open: BadInputFixture['open'] = (repo, options) => {
    const litterbox = createLitterbox({ repo, stateDirectory, providers: [overlayfs], ...options });
    opened.push(litterbox);
    return litterbox;
  };
  let server: ChildProcess | undefined;
  const say: BadInputFixture['say'] = async ({ args, directory: at = repository, environment: more = {} }) => {
    server ??= spawn(process.execPath, ['--no-warnings', '--conditions=@litterbox/source', SERVER], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    });
    const answer = new AbortController();
    const { signal } = answer;
    server.send({ args, directory: at, environment: { ...environment, ...more } });
    const died = async () => {
      await once(server as ChildProcess, 'exit', { signal });
      throw new Error(`The command line ended the process: ${args.join(' ')}`);
    };
    try {
      const [said] = (await Promise.race([once(server, 'message', { signal }), died()])) as [Said];
      return said;
    } finally {
      answer.abort();
    }
  };
  fixture.defer(async () => {
    if (!server) return;
    const gone = once(server, 'exit');
    server.disconnect();
    await gone;
  });
  fixture.defer(async () => {
    const last = open(repository);
    for (const { name } of await last.list()) await last.delete(name, { force: true });
    for (const litterbox of opened) await litterbox[Symbol.asyncDispose]();
  });
  return Object.assign(fixture, {
    scratch,
    litterbox: open(repository),
    open,
    say,
    setState(sandbox: string, state: string) {
      using sqlite = new DatabaseSync(join(stateDirectory, 'state.db'));
      const find = sqlite.prepare('SELECT body FROM sandbox WHERE slug = ?');
      const set = (body: string) => {
        using again = new DatabaseSync(join(stateDirectory, 'state.db'));
        again.prepare('UPDATE sandbox SET body = ? WHERE slug = ?').run(body, sandbox);
      };
      const { body } = find.get(sandbox) as { readonly body: string };
      set(JSON.stringify({ ...JSON.parse(body), state }));
      return () => set(body);
    },
    digest: () => ({ ...repositoryDigest(repository), ...stateDigest(stateDirectory) }),
  });
}

/** One with what the tables speak of: sandboxes that are ready, paused, half made and risky, and files that are none. */
export async function furnishedFixture(): Promise<BadInputFixture> {
  const fixture = await badInputFixture();
  const { litterbox } = fixture;
  const ready = await litterbox.create({ name: 'ready' });
  await ready.run('mkfifo pipe; ln -s src to-directory; ln -s nothing dangling; ln -s loop loop; echo b >b.txt');
  await litterbox.create({ name: 'resting' });
  await litterbox.setRunState('resting', 'paused');
  await litterbox.create({ name: 'half' });
  const risky = await litterbox.create({ name: 'risky' });
  await risky.run('mkdir .husky; echo x >.husky/post-merge');
  return fixture;
}

/** Records, agreements, open steps, refs of every history and the sandboxes' own directories. What is written down of calls may grow. */
function stateDigest(stateDirectory: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const database = join(stateDirectory, 'state.db');
  if (existsSync(database)) {
    using sqlite = new DatabaseSync(database, { readOnly: true });
    for (const table of ['trust', 'journal'])
      found[table] = JSON.stringify(sqlite.prepare(`SELECT * FROM ${table} ORDER BY sequence`).all());
    // How far the workspace has been looked at is ours, and moves with every look.
    const facts = "slug, body ->> 'state' AS state, body ->> 'policy' AS policy, body ->> 'workdir' AS workdir";
    found['sandbox'] = JSON.stringify(sqlite.prepare(`SELECT ${facts} FROM sandbox ORDER BY sequence`).all());
  }
  const list = (path: string) =>
    existsSync(join(stateDirectory, path)) ? readdirSync(join(stateDirectory, path)).toSorted() : [];
  for (const name of ['overlayfs/sandboxes', 'overlayfs/playgrounds']) found[name] = list(name).join(' ');
  const refs = (path: string): void => {
    for (const entry of readdirSync(join(stateDirectory, path), { withFileTypes: true })) {
      const at = `${path}/${entry.name}`;
      if (entry.name === 'tombstones') continue; // a create that was undone after its history began leaves one
      if (entry.isDirectory()) refs(at);
      else found[at] = readFileSync(join(stateDirectory, at), 'utf8');
    }
  };
  for (const id of list('repos')) {
    const at = `repos/${id}/store.git`;
    if (!existsSync(join(stateDirectory, at))) continue;
    refs(`${at}/refs`);
    const packed = join(stateDirectory, at, 'packed-refs');
    if (existsSync(packed)) found[`${at}/packed-refs`] = readFileSync(packed, 'utf8');
  }
  return found;
}

/** The configuration file for one input. */
export const configured =
  (content: string | Uint8Array): NonNullable<BadInput['arrange']> =>
  ({ scratch }) => {
    scratch.file('.litterbox.toml', content);
    return () => rmSync(join(scratch.repository, '.litterbox.toml'));
  };
