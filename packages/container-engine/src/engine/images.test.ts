import { Readable } from 'node:stream';
import { expect, it } from '@jest/globals';
import Client from 'dockerode';
import type { Engine } from './engine.ts';
import type { EngineFacts } from './engine-facts.ts';
import { Images } from './images.ts';

/** An engine that has no image, and says these lines of a pull. */
function engineOf(lines: readonly object[]): Engine {
  const { modem } = new Client({ socketPath: '/nowhere' });
  const pull = async () => Readable.from(lines.map((line) => `${JSON.stringify(line)}\n`));
  return {
    title: 'Podman',
    provider: 'podman@build-box',
    kind: 'podman',
    askIfThere: async () => undefined,
    ask: async (_operation: string, body: (docker: unknown) => Promise<unknown>) => await body({ modem, pull }),
  } as unknown as Engine;
}

const refusalOf = async (lines: readonly object[]) =>
  await new Images(engineOf(lines)).get('no.example.org/x:1', { architecture: 'amd64' } as EngineFacts).then(
    () => 'it was there',
    (error: Error) => error.message,
  );

it('names the command of the engine in its hint, wherever the engine is', async () => {
  const asked = new Images(engineOf([])).get('x:1', { architecture: 'amd64' } as EngineFacts);
  await expect(asked).rejects.toMatchObject({
    code: 'NOT_FOUND',
    details: { provider: 'podman@build-box', hint: expect.stringMatching(/by hand: podman pull x:1$/) },
  });
});

it('keeps the reason of an engine that ends a failed pull well', async () => {
  expect(await refusalOf([{ status: 'Trying' }, { error: 'lookup no.example.org: no such host' }])).toBe(
    'Podman has no image "no.example.org/x:1", and could not pull it: lookup no.example.org: no such host.',
  );
  expect(await refusalOf([{ status: 'Trying' }])).toContain('it is still not there');
});
