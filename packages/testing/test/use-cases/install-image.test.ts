import { expect, test } from '@jest/globals';
import { type Program } from '@litterbox/memory';
import { NOTHING_LEFT, useCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';
import { changed, made } from '../made.ts';

const failed = new Error('no');
const config = '[container]\nbase-image = "debian:12"\ninstall-command = ["install"]\n';

/** Counts how often something is installed. */
function installing(code = 0): UseCaseFixtureOptions & { readonly runs: () => number } {
  let runs = 0;
  const install: Program = async () => {
    runs += 1;
    return code;
  };
  return { config, programs: { install }, runs: () => runs };
}

test('what the configuration installs is installed once for all sandboxes that have the same', async () => {
  const options = installing();
  await using fixture = useCaseFixture(options);
  const [one, two] = [await made(fixture, 'a'), await made(fixture, 'b')];
  expect(options.runs()).toBe(1);
  expect(one.policy.root).toEqual(two.policy.root);
  expect(one.policy.root).toMatchObject({ type: 'image', reference: 'debian:12', installed: expect.any(String) });
  expect(await fixture.audited()).toEqual(['image-install: ok', 'sandbox-create: ok', 'sandbox-create: ok']);
  expect(fixture.left().runtimes).toHaveLength(2);
  expect(fixture.left().journal).toEqual([]);
});

test('a fresh setup installs anew', async () => {
  const options = installing();
  await using fixture = useCaseFixture(options);
  await made(fixture, 'a');
  await made(fixture, 'b', { freshSetup: true });
  expect(options.runs()).toBe(2);
});

test('two creates at once install once: the second one waits for the first', async () => {
  const both = Promise.withResolvers<void>();
  let asked = 0;
  let runs = 0;
  const install: Program = async (process) => {
    runs += 1;
    await process.wait(both.promise);
    return 0;
  };
  await using fixture = useCaseFixture({
    config,
    programs: { install },
    provider: ({ images }) =>
      images === undefined
        ? {}
        : {
            images: {
              ...images,
              async has(...args) {
                const isThere = await images.has(...args);
                asked += 1;
                if (asked === 2) both.resolve();
                return isThere;
              },
            },
          },
  });
  const making = [made(fixture, 'a'), made(fixture, 'b')];
  await both.promise;
  await Promise.all(making);
  expect(runs).toBe(1);
});

test('an installation that fails is SETUP_FAILED, and nothing is left', async () => {
  await using fixture = useCaseFixture(installing(3));
  await expect(made(fixture)).rejects.toMatchObject({
    code: 'SETUP_FAILED',
    message: expect.stringContaining('install command'),
  });
  expect(fixture.left()).toEqual(NOTHING_LEFT);
  expect(await fixture.audited()).toEqual(['image-install: error']);
});

test('an image that cannot be kept leaves nothing', async () => {
  await using fixture = useCaseFixture({
    ...installing(),
    provider: ({ images }) => ({
      images: { has: async () => false, ...images, remove: async () => {}, keep: () => Promise.reject(failed) },
    }),
  });
  await expect(made(fixture)).rejects.toBe(failed);
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});

test('a place that cannot be cleared away stays in the journal, and why it failed is told', async () => {
  await using fixture = useCaseFixture({ ...installing(3), provider: { remove: () => Promise.reject(failed) } });
  await expect(made(fixture)).rejects.toMatchObject({ code: 'SETUP_FAILED' });
  expect(fixture.left().journal).toEqual(['image-install: memory']);
});

test('a provider that installs nothing is UNSUPPORTED', async () => {
  await using fixture = useCaseFixture({ ...installing(), provider: { images: undefined } as object });
  await expect(made(fixture)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
});

test('what a branch of an agent would install is not installed: the commit of the person decides', async () => {
  const options = installing();
  await using fixture = useCaseFixture({ ...options, files: [{ path: 'package.json', content: '{}' }] });
  await changed(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo evil >package.json' });
  await fixture.cutMilestone.cut('a', 'x');
  await made(fixture, 'b', { from: { type: 'ref', name: 'litterbox/a' } });
  expect(options.runs()).toBe(1);
});

test('a recovery installs again what is gone', async () => {
  const options = installing();
  await using fixture = useCaseFixture(options);
  await made(fixture);
  fixture.shelves.sandboxes.images.clear();
  await fixture.recoverSandbox.recover('a', { force: true });
  expect(options.runs()).toBe(2);
});
