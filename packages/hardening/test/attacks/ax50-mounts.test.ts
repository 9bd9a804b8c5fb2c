// Where a session mounts something: a link that an agent left there must not lead the mount to a place of the host.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';

/** The description of the one sandbox of a state directory. */
function descriptionOf(stateDirectory: string): string {
  const sandboxes = join(stateDirectory, 'overlayfs/sandboxes');
  const [id = ''] = readdirSync(sandboxes);
  const name = readdirSync(join(sandboxes, id)).find((file) => file.endsWith('.json')) ?? '';
  return join(sandboxes, id, name);
}

describe('places of mounts', () => {
  attack('AX50: no workspace is where an agent can put a link', async (fixture) => {
    for (const workdir of [
      '/home/agent/evil/deep',
      '/playground',
      '/playground/x',
      '/home',
      '/run',
      '/run/litterbox',
    ]) {
      const { code, stderr } = commandLine(fixture, ['create', 'refused', '--workdir', workdir]);
      expect({ workdir, code, stderr }).toEqual({
        workdir,
        code: 2,
        stderr: expect.stringContaining('cannot be used'),
      });
    }
    // One that was made before that was refused: the agent's link is there, and the next session mounts the workspace below it.
    const { directory, stateDirectory } = fixture.scratch;
    const place = join(directory, 'of-the-person');
    mkdirSync(place, { mode: 0o777 });
    const litterbox = fixture.open();
    const sandbox = await litterbox.create({ name: 'a', workdir: '/src' });
    await fixture.run(sandbox, ['sh', '-c', 'ln -s "$1" ~/evil', 'sh', place]);
    await litterbox.setRunState('a', 'stopped');
    const description = descriptionOf(stateDirectory);
    const text = readFileSync(description, 'utf8');
    expect(text).toContain('"workdir":"/src"');
    writeFileSync(description, text.replace('"workdir":"/src"', '"workdir":"/home/agent/evil/deep"'));
    const started = async () => {
      const next = fixture.open();
      await next.setRunState('a', 'ready');
      return await (await next.open('a')).run('true');
    };
    await expect(started()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(existsSync(join(place, 'deep'))).toBe(false);
    expect(await fixture.achieved()).toEqual([]);
  });
});
