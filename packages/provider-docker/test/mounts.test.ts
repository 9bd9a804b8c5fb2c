import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { collected, eventually, forBackend } from '@litterbox/conformance';
import { type SandboxRuntime } from '@litterbox/core/provider';
import { absence } from './backend.ts';
import { Sandboxes } from './sandboxes.ts';

/** Processes of this machine whose mounts name it. */
function seenBy(name: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(join('/proc', pid, 'mountinfo'), 'utf8').includes(name);
    } catch {
      return false; // it has ended
    }
  });
}

const sh = async (runtime: SandboxRuntime, script: string) =>
  (await collected(await runtime.spawn({ argv: ['sh', '-c', script] }))).stdout;

if (process.getuid?.() === 0) {
  const suite = await forBackend('docker', { describe, it }, absence);

  suite.describe('mounts of a container on the machine', () => {
    suite.it('are in no namespace but its own and the machine, so that its next start mounts them anew', async () => {
      await using sandboxes = await Sandboxes.open();
      const one = await sandboxes.create();
      await one.scan(undefined); // what looks for changes has begun
      const two = await sandboxes.create(); // and another one began while the first one's were there
      await two.scan(undefined);
      expect(seenBy(`${one.id}/upper`).length).toBeGreaterThan(0); // positive control
      await one.stop();
      const left = await eventually(
        async () => seenBy(`upperdir=${sandboxes.directory}/docker/sandboxes/${one.id}`),
        (pids) => pids.length === 0,
      );
      expect(left).toEqual([]);
      await one.start();
      expect(await sh(one, 'echo again >file; cat file')).toBe('again\n');
    });

    suite.it('a disk is mounted while its container may run, and gives its space back at once', async () => {
      await using sandboxes = await Sandboxes.open();
      const one = await sandboxes.create({ limits: { diskBytes: 32 * 2 ** 20 } });
      const disk = `${sandboxes.directory}/docker/sandboxes/${one.id}/disk`;
      const isMounted = () => readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${disk} `);
      const images = () => readdirSync(`${sandboxes.directory}/docker/disks`);
      const loops = () =>
        readdirSync('/sys/block').filter((name) => {
          try {
            return readFileSync(`/sys/block/${name}/loop/backing_file`, 'utf8').includes(`/disks/${one.id}`);
          } catch {
            return false; // no loop device, or a free one
          }
        });
      await sh(one, 'echo kept >file; echo played >"$LITTERBOX_PLAYGROUND/toy"');
      await one.scan(undefined);
      expect({ isMounted: isMounted(), images: images(), length: loops().length }).toEqual({
        isMounted: true,
        images: [one.id],
        length: 1,
      });
      await one.stop();
      expect(isMounted()).toBe(false);
      await one.start();
      expect(await sh(one, 'cat file "$LITTERBOX_PLAYGROUND/toy"')).toBe('kept\nplayed\n');
      expect(isMounted()).toBe(true);
      // As restore and recover do: the layers are new, the playground is the one before.
      await one[Symbol.asyncDispose]();
      await sandboxes.provider.remove(one.id, { keepPlayground: true });
      expect({ isMounted: isMounted(), images: images() }).toEqual({ isMounted: false, images: [one.id] });
      const next = await sandboxes.create({ id: one.id, limits: { diskBytes: 32 * 2 ** 20 } });
      expect(await sh(next, 'cat file "$LITTERBOX_PLAYGROUND/toy"; :')).toBe('played\n');
      await next[Symbol.asyncDispose]();
      await sandboxes.provider.remove(one.id);
      expect({ isMounted: isMounted(), images: images() }).toEqual({ isMounted: false, images: [] });
      await eventually(
        async () => loops(),
        (names) => names.length === 0,
      );
    });

    suite.it('a limit of disk that cannot be held is refused by name', async () => {
      await using sandboxes = await Sandboxes.open();
      await expect(
        sandboxes.create({ limits: { diskBytes: 32 * 2 ** 20 }, playground: 'shared' }),
      ).rejects.toMatchObject({ code: 'UNSUPPORTED' });
      await expect(sandboxes.create({ limits: { diskBytesPerSecond: 2 ** 20 } })).rejects.toMatchObject({
        code: 'UNSUPPORTED',
      });
    });
  });
}
