import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { AgentClient } from './agent-client.ts';
import type { AgentFixture } from './agent-fixture.ts';
import { type Place, placeOn } from './place-on.ts';

/** Certificates that programs trust, which the image has not. */
const ROOTS = '/etc/ssl/certs/ca-certificates.crt';
/** Libraries of C++, which the image has not. */
const LIBRARY = /^\s*(lib(?:stdc\+\+|gcc_s)\.so\.\d+) => (\S+)/gm;

/**
 * Brings an agent's program to where its sandbox will be, and gives the options of `litterbox agent run` that ask for one there: into the
 * PATH of this machine, into an image, or into the PATH of the other machine.
 *
 * @throws AssertionError
 */
export async function placeInside(
  fixture: AgentFixture,
  place: Place,
  { id, name, program }: Pick<AgentClient, 'id' | 'name' | 'program'>,
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
    symlinkSync(path, join(bin, id));
    return await placeOn(fixture, place, undefined, bin);
  }
  assert.equal(place, 'docker', 'images with agents are made for Docker alone');
  const image = `litterbox-agents-${id}`;
  const files = join(directory, 'image');
  const bin = join(files, 'local', 'bin');
  mkdirSync(bin, { recursive: true });
  mkdirSync(join(files, 'lib'));
  mkdirSync(join(files, 'certs'));
  symlinkSync(ROOTS, join(files, 'certs', basename(ROOTS))); // Copilot ends without any
  const libraries = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).matchAll(LIBRARY);
  for (const [, library = '', found = ''] of libraries) symlinkSync(found, join(files, 'lib', library));
  const whole = realpathSync(path);
  if (whole.endsWith('.js')) giveNode(join(files, 'local'), id, join(install, 'node_modules', name), whole);
  else symlinkSync(path, join(bin, id));
  writeFileSync(
    join(files, 'Dockerfile'),
    'FROM debian:bookworm\nCOPY lib /usr/lib\nCOPY local /usr/local\nCOPY certs /etc/ssl/certs\n',
  );
  execFileSync('sh', ['-c', 'tar -chC "$2" . | docker build -q -t "$1" -', 'sh', image, files], {
    env: { ...process.env, ...fixture.environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  fixture.defer(() => {
    fixture.litterbox('delete', 'mend-add', '--force'); // where it was not merged
    execFileSync('docker', ['rmi', image], { env: fixture.environment, stdio: 'ignore' });
  });
  return await placeOn(fixture, place, image);
}

/** A package that Node runs, with Node. */
function giveNode(local: string, id: string, directory: string, script: string): void {
  symlinkSync(process.execPath, join(local, 'bin', 'node'));
  mkdirSync(join(local, 'lib'));
  symlinkSync(directory, join(local, 'lib', id));
  const start = `#!/bin/sh\nexec node '/usr/local/lib/${id}/${relative(directory, script)}' "$@"\n`;
  writeFileSync(join(local, 'bin', id), start, { mode: 0o755 });
}
