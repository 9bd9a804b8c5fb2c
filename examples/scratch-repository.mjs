// A small git repository in a temporary directory, with a state directory for Litterbox beside it.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * @param {Record<string, string>} files what the first commit holds
 */
export async function scratchRepository(files) {
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-example-'));
  const repo = join(directory, 'repo');
  const git = (...args) => execFileSync('git', ['-C', repo, ...args], { encoding: 'utf8' }).trimEnd();
  await mkdir(repo);
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.org');
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(repo, path)), { recursive: true });
    await writeFile(join(repo, path), content);
  }
  git('add', '--all');
  git('commit', '--quiet', '--message=Start');
  return {
    repo,
    stateDirectory: join(directory, 'state'),
    git,
    async [Symbol.asyncDispose]() {
      await rm(directory, { recursive: true, force: true });
    },
  };
}
