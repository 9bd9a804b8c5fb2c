import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox, type Litterbox } from 'litterbox';
import { Fixture } from '@litterbox/testing';
import { hostEnvironment } from '../../src/index.ts';

/** A repository as somebody has it on disk, with all that lies around it. */
export interface WildFixture extends Fixture {
  /** The work tree that is worked in. */
  readonly repository: string;
  readonly litterbox: Litterbox;
  /** A shell script in the work tree, as its owner. What it printed, byte by byte as Latin-1. */
  sh(script: string): string;
  /** The tree that plain git makes of the change in a fresh clone in which nothing is converted. */
  treeOf(change: string): string;
}

const PEOPLE = {
  GIT_AUTHOR_NAME: 'Somebody',
  GIT_AUTHOR_EMAIL: 'somebody@localhost',
  GIT_COMMITTER_NAME: 'Somebody',
  GIT_COMMITTER_EMAIL: 'somebody@localhost',
};

/** Runs the script in an empty directory; what it leaves in `repository` is the work tree, or in what it names in the file `where`. */
export async function wildFixture(script: string): Promise<WildFixture> {
  const fixture = new Fixture();
  const directory = mkdtempSync(join(tmpdir(), 'litterbox-wild-'));
  fixture.defer(() => rmSync(directory, { recursive: true, force: true }));
  const home = join(directory, 'home');
  mkdirSync(home);
  const environment = { HOME: home, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C.UTF-8', ...PEOPLE };
  const run = (cwd: string, text: string) =>
    execFileSync('sh', ['-ec', text], {
      cwd,
      encoding: 'latin1',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 2 ** 28,
      env: { PATH: process.env['PATH'], ...environment },
    });
  run(
    directory,
    `git config --global user.name Somebody; git config --global user.email somebody@localhost; git config --global init.defaultBranch main; git config --global protocol.file.allow always; git config --global gc.auto 0; ${script}`,
  );
  const named = join(directory, 'where');
  const repository = join(directory, existsSync(named) ? readFileSync(named, 'utf8').trim() : 'repository');
  fixture.use(await hostEnvironment(environment));
  const stateDirectory = join(directory, 'state');
  const litterbox = fixture.use(createLitterbox({ repo: repository, stateDirectory, providers: [overlayfs] }));
  fixture.defer(async () => {
    try {
      for (const { name } of await litterbox.list()) await litterbox.delete(name, { force: true });
    } catch {
      // It was never one that can be opened.
    }
  });
  return Object.assign(fixture, {
    repository,
    litterbox,
    sh: (text: string) => run(repository, text),
    treeOf(change: string) {
      const reference = join(directory, 'reference');
      mkdirSync(reference);
      // Taken from a copy without work tree: what is dirty or half-done in the owner's is not part of the base.
      run(
        repository,
        `git clone -q --bare --no-local "file://$(git rev-parse --path-format=absolute --git-common-dir)" ../reference.git 2>/dev/null ||
         git clone -q --bare "$(git rev-parse --path-format=absolute --git-common-dir)" ../reference.git`.replaceAll(
          '../reference.git',
          `"${reference}.git"`,
        ),
      );
      const head = run(repository, 'git rev-parse HEAD').trim();
      const git = `git --git-dir="${reference}.git" --work-tree=. -c core.bare=false -c core.autocrlf=false -c core.symlinks=true -c core.fileMode=true -c core.ignoreCase=false`;
      return run(
        reference,
        `printf '* -text -ident !eol !filter !working-tree-encoding\\n' >"${reference}.git/info/attributes"
         ${git} checkout -q -f ${head} -- . || true
         sh -c "$(cat <<'CHANGE'\n${change}\nCHANGE\n)"
         ${git} add -A . 2>/dev/null; ${git} write-tree`,
      ).trim();
    },
  });
}
