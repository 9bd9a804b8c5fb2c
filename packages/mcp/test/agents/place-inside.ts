import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { constants, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { AgentClient } from './agent-client.ts';
import type { AgentFixture } from './agent-fixture.ts';
import { type Place, placeOn } from './place-on.ts';

/**
 * Brings an agent's program to where its sandbox will be, and gives the options of `litterbox agent run` that ask for one there: into the
 * PATH of this machine, into an image, or into the PATH of the other machine.
 *
 * @throws AssertionError
 */
export async function placeInside(
  fixture: AgentFixture,
  place: Place,
  { id, program }: Pick<AgentClient, 'id' | 'program'>,
  install: string,
): Promise<readonly string[]> {
  const { directory } = fixture.scratch;
  const path = join(install, program);
  if (place === 'overlayfs') {
    symlinkSync(path, join(directory, 'bin', id));
    return await placeOn(fixture, place);
  }
  if (place === 'ssh') {
    const bin = join(directory, 'bin-there');
    mkdirSync(bin);
    copyFileSync(path, join(bin, id), constants.COPYFILE_FICLONE);
    return await placeOn(fixture, place, undefined, bin);
  }
  assert.equal(place, 'docker', 'images with agents are made for Docker alone');
  const image = `litterbox-agents-${id}`;
  const files = join(directory, 'image');
  mkdirSync(files);
  writeFileSync(join(files, 'Dockerfile'), `FROM debian:bookworm\nCOPY ${basename(path)} /usr/local/bin/${id}\n`);
  const tar = ['-c', '-C', files, 'Dockerfile', '-C', dirname(path), basename(path)];
  execFileSync('sh', ['-c', 'tag=$1; shift; tar "$@" | docker build -q -t "$tag" -', 'sh', image, ...tar], {
    env: { ...process.env, ...fixture.environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  fixture.defer(() => {
    fixture.litterbox('delete', 'mend-add', '--force'); // where it was not merged
    execFileSync('docker', ['rmi', image], { env: fixture.environment, stdio: 'ignore' });
  });
  return await placeOn(fixture, place, image);
}
