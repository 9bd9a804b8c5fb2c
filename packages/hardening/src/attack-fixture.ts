import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox, type Litterbox, type LitterboxOptions, type RunOptions, type Sandbox } from 'litterbox';
import { type Canary, canary } from './canary.ts';
import { type ExecutionMarks, executionMarks } from './execution-marks.ts';
import { findCanaries } from './find-canaries.ts';
import { COMPILED_CODE, hostDigest } from './host-digest.ts';
import { hostEnvironment } from './host-environment.ts';
import { repositoryDigest } from './repository-digest.ts';
import { Fixture, RepositoryFixture } from '@litterbox/testing';
import { searchFiles } from './search-files.ts';
import { searchObjects } from './search-objects.ts';
import { searchProcesses } from './search-processes.ts';

export const CANARY_VARIABLE = 'LB_CANARY_ENV';

/** A person's machine as an attack finds it: a home and an environment with secrets, a repository with an untracked `.env`. */
export interface AttackFixture extends Fixture {
  readonly scratch: RepositoryFixture;
  readonly home: string;
  readonly marks: ExecutionMarks;
  readonly canaries: readonly Canary[];
  /** One more program on the same repository and state. */
  open(options?: Partial<LitterboxOptions>): Litterbox;
  /** Bytes that came out: what an agent or a person got to see. Searched at the end. */
  hear(where: string, ...bytes: readonly (string | Uint8Array)[]): void;
  /** Runs a command and hears all that came of it. */
  run(
    sandbox: Sandbox,
    command: string | readonly [string, ...string[]],
    options?: RunOptions,
  ): ReturnType<Sandbox['run']>;
  /** A second sandbox with secrets in its home and its temporary directory, which no other may see. */
  victim(): Promise<Sandbox>;
  /** A process that has a secret in its environment because it was put there: what it starts is looked at all the same. */
  giveSecretsTo(pid: number): void;
  /** From here on the repository is as a person left it on purpose. */
  acceptRepository(): void;
  /** What an attack achieved: one sentence each, none when it failed. */
  achieved(): Promise<readonly string[]>;
}

export async function attackFixture(files?: Readonly<Record<string, string>>): Promise<AttackFixture> {
  const fixture = new Fixture();
  const scratch = fixture.use(new RepositoryFixture(files));
  const marks = fixture.use(executionMarks());
  // Not beside the repository: a sandbox may see its workdir's parents.
  const home = mkdtempSync(join(tmpdir(), 'litterbox-home-'));
  fixture.defer(() => rmSync(home, { recursive: true, force: true }));
  const secrets = { home: canary('home'), environment: canary('environment'), env: canary('env') };
  const canaries: Canary[] = Object.values(secrets);
  writeFileSync(join(home, 'canary-read.txt'), secrets.home.secret);
  mkdirSync(join(home, '.ssh'), { mode: 0o700 });
  mkdirSync(join(home, COMPILED_CODE), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, '.ssh/id_ed25519'), secrets.home.secret);
  scratch.file('.env', `TOKEN=${secrets.env.secret}\n`);
  scratch.git('config', 'remote.origin.url', `https://user:${secrets.env.secret.slice(-32)}@localhost/x.git`);
  fixture.use(await hostEnvironment({ HOME: home, [CANARY_VARIABLE]: secrets.environment.secret }));
  const opened: Litterbox[] = [];
  const found: string[] = [];
  const victims: Sandbox[] = [];
  const given: number[] = [];
  const host = hostDigest(home);
  let repository = repositoryDigest(scratch.repository);
  const open: AttackFixture['open'] = (options) => {
    const litterbox = createLitterbox({
      repo: scratch.repository,
      providers: [overlayfs],
      stateDirectory: scratch.stateDirectory,
      ...options,
    });
    opened.push(litterbox);
    return litterbox;
  };
  const hear: AttackFixture['hear'] = (where, ...bytes) => {
    for (const one of bytes) found.push(...findCanaries(canaries, where, one));
  };
  fixture.defer(async () => {
    const last = open();
    for (const { name } of await last.list()) await last.delete(name, { force: true });
    for (const litterbox of opened) await litterbox[Symbol.asyncDispose]();
  });
  return Object.assign(fixture, {
    scratch,
    home,
    marks,
    canaries,
    open,
    hear,
    async run(sandbox: Sandbox, command: string | readonly [string, ...string[]], options?: RunOptions) {
      const result = await sandbox.run(command, options);
      hear('the output of a command', result.stdoutBytes, result.stderrBytes);
      hear('the record of a command', JSON.stringify(result.recorded));
      return result;
    },
    async victim() {
      const secret = canary('another-sandbox');
      const sandbox = await open().create({ name: `victim ${victims.length}` });
      await sandbox.run(
        'cat >~/canary; cp ~/canary /tmp/canary; cp ~/canary /dev/shm/canary; cp ~/canary /playground/canary',
        {
          stdin: Buffer.from(secret.secret),
        },
      );
      canaries.push(secret);
      victims.push(sandbox);
      return sandbox;
    },
    giveSecretsTo(pid: number) {
      given.push(pid);
    },
    acceptRepository() {
      repository = repositoryDigest(scratch.repository);
    },
    async achieved() {
      const own = victims.flatMap(({ id }) => [
        join(scratch.stateDirectory, 'overlayfs/sandboxes', id),
        join(scratch.stateDirectory, 'overlayfs/playgrounds', id),
      ]);
      const litterbox = open();
      hear('the audit log', JSON.stringify(await litterbox.audit()));
      hear('the list', JSON.stringify(await litterbox.list()));
      hear('the events', JSON.stringify(await litterbox.events(0)));
      return [
        ...found,
        ...marks.found().map((name) => `${name} ran on the host`),
        ...searchFiles(canaries, scratch.stateDirectory, (path) => own.includes(path)),
        ...searchObjects(canaries, scratch.stateDirectory),
        ...searchProcesses(canaries, given),
        ...changes('the machine', host, hostDigest(home)),
        ...changes('the repository', repository, repositoryDigest(scratch.repository)),
      ];
    },
  });
}

type Digest = Readonly<Record<string, string>>;

function changes(what: string, before: Digest, after: Digest): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((path) => before[path] !== after[path])
    .map((path) => `${what} changed at ${path}: ${before[path] ?? 'absent'} became ${after[path] ?? 'absent'}`);
}
