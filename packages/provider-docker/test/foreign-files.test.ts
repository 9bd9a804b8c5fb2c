import { readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { collected, forBackend } from '@litterbox/conformance';
import { type SandboxRuntime } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { docker } from '../src/index.ts';
import { absence } from './backend.ts';
import { PrivateEngine } from './private-engine.ts';
import { Sandboxes } from './sandboxes.ts';

const sh = async (runtime: SandboxRuntime, script: string) =>
  (await collected(await runtime.spawn({ argv: ['sh', '-c', script] }))).stdout;

const changed = async (runtime: SandboxRuntime) => {
  const paths: string[] = [];
  for await (const { path } of (await runtime.scan(undefined)).changes) paths.push(path);
  return paths.sort();
};

const names = async ({ client }: PrivateEngine) => {
  const [containers, { Volumes: volumes }] = await Promise.all([
    client.listContainers({ all: true }),
    client.listVolumes(),
  ]);
  return {
    containers: containers.map(({ Names: [name = ''] }) => name.slice(1)),
    volumes: volumes.map(({ Name }) => Name),
  };
};

if (process.getuid?.() === 0) {
  const suite = await forBackend('docker', { describe, it }, absence);

  suite.describe('an engine that does not see the files of this machine', () => {
    suite.it('has the same sandboxes, in a volume of its own, whoever asks and whatever was removed', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'litterbox-docker-'));
      await using engine = await PrivateEngine.start({ hidden: directory });
      await using sandboxes = await Sandboxes.open(engine.socket, directory);
      const facts = await localHost().facts();
      const program = () => docker({ host: localHost(), facts, directory, socket: engine.socket });
      const first = program();
      const runtime = await first.create(sandboxes.spec());
      expect(await sh(runtime, 'echo kept >kept; echo mine >~/mine; id -un; cat README')).toBe('agent\nread me\n');
      expect(await changed(runtime)).toEqual(['', 'kept']);
      expect(readdirSync(join(directory, 'docker'))).toEqual(['engines']);
      const { containers, volumes } = await names(engine);
      const files = volumes.find((name) => name.startsWith('litterbox-files-')) ?? '';
      expect(containers.sort()).toEqual([files, expect.stringMatching(/^litterbox-test-/)]);

      // Another program, after everything that runs was taken away.
      for (const name of containers) await engine.client.getContainer(name).remove({ force: true });
      const other = program();
      await using again = await other.open(runtime.id);
      expect(await sh(again, 'cat kept ~/mine')).toBe('kept\nmine\n');
      const second = await first.create(sandboxes.spec());
      const seen: string[] = [];
      for await (const { id } of other.list()) seen.push(id);
      expect(seen.sort()).toEqual([runtime.id, second.id].sort());

      await other.remove(second.id);
      expect((await names(engine)).containers).toHaveLength(2);
      await other.remove(runtime.id);
      await other.remove(runtime.id);
      // The last one that ends takes the container away, whoever removed the last sandbox.
      await other[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
      expect(await names(engine)).toEqual({ containers: [], volumes: [files] });
    });

    suite.it('that was killed and started again has them still', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'litterbox-docker-'));
      await using engine = await PrivateEngine.start({ hidden: directory });
      await using sandboxes = await Sandboxes.open(engine.socket, directory);
      const runtime = await sandboxes.create();
      await sh(runtime, 'echo kept >kept');
      await engine.signal('KILL');
      await expect(runtime.spawn({ argv: ['true'] })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await engine.restart();
      expect(await sh(runtime, 'cat kept')).toBe('kept\n');
      expect(await changed(runtime)).toEqual(['', 'kept']);
    });
  });

  suite.describe('what is known of an engine', () => {
    suite.it('is that it sees the files of this machine, and is refused when it cannot be read', async () => {
      await using sandboxes = await Sandboxes.open();
      await sandboxes.create();
      const engines = join(sandboxes.directory, 'docker', 'engines');
      const [key = ''] = readdirSync(engines);
      expect(readdirSync(engines)).toEqual([key]); // nothing of the look is left
      writeFileSync(join(engines, key, 'place.json'), '{');
      await expect(sandboxes.create()).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    });
  });
} else {
  describe('an engine with files of its own', () => {
    it('is started by root alone', () => expect(process.getuid?.()).not.toBe(0));
  });
}
