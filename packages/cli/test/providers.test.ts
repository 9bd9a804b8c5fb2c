import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { sqliteState } from '@litterbox/state-sqlite';
import { CliFixture } from './cli-fixture.ts';
import { loadedFiles } from './loaded-files.ts';

/** Whether a command loaded code of a package; in the bundle files say in comments what they were made of. */
const isOf = (url: string, name: string): boolean =>
  url.includes(`/packages/${name}/`) ||
  (url.includes('/packages/cli/bundle/') && readFileSync(fileURLToPath(url), 'utf8').includes(`// ../${name}/dist/`));

async function loadedBy(fixture: CliFixture, args: readonly string[]) {
  const urls = await loadedFiles(fixture, args);
  return {
    overlayfs: urls.some((url) => isOf(url, 'provider-overlayfs')),
    engines: urls.some((url) => isOf(url, 'container-engine')),
    client: urls.some((url) => url.includes('/docker-client')),
  };
}

test('a list loads the providers that have sandboxes in it, and no other', async () => {
  await using fixture = new CliFixture();
  await fixture.run(['create', 'fix', '--provider', 'overlayfs']);
  expect(await loadedBy(fixture, ['list'])).toEqual({ overlayfs: true, engines: false, client: false });
  expect(await loadedBy(fixture, ['explain'])).toMatchObject({ overlayfs: true, engines: true });
});

/** An engine that takes connections and says nothing. */
async function silentEngine(fixture: CliFixture): Promise<Readonly<Record<string, string>>> {
  const path = join(fixture.directory, 'silent.sock');
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(path, resolve));
  fixture.defer(() => void server.close());
  // As where the files of a sandbox are with the engine, so that it has to be asked for what it has.
  const place = join(fixture.stateDirectory, 'docker/engines/0123456789abcdef0123456789abcdef');
  mkdirSync(place, { recursive: true });
  const record = { version: 1, name: 'litterbox-none', directory: '/nowhere', imageId: 'sha256:0' };
  writeFileSync(join(place, 'place.json'), JSON.stringify(record));
  return { DOCKER_HOST: `unix://${path}` };
}

test('an engine that does not answer makes its sandboxes slow, and the others show as ever', async () => {
  await using fixture = new CliFixture();
  for (const name of ['well', 'there']) await fixture.run(['create', name, '--provider', 'overlayfs']);
  const { state } = sqliteState({ directory: fixture.stateDirectory });
  const there = (await state.list()).find(({ slug }) => slug === 'there');
  if (!there) throw new Error('There is no sandbox.');
  const moved = await state.update(there, { provider: 'docker' });
  const silent = await silentEngine(fixture);

  const listed = await fixture.run(['list', '--json'], undefined, silent);
  const states = (JSON.parse(listed.stdout) as { readonly name: string; readonly state: string }[]).map(
    ({ name, state: shown }) => `${name}: ${shown}`,
  );
  expect(states).toEqual(['well: ready', 'there: slow']);
  const table = await fixture.run(['list'], undefined, silent);
  expect(table.stdout).toMatch(/^there\tslow\tdocker\t/m);
  expect(table.stderr).toContain(
    'docker did not answer in time. Sandboxes marked "slow" have not been changed. Details: litterbox doctor.',
  );
  expect(table.stdout + table.stderr).not.toContain('recover');
  const explained = await fixture.run(['explain', 'there'], undefined, silent);
  expect(explained.stdout).toMatch(/^it is slow: /m);
  const doctor = await fixture.run(['doctor', '--json'], undefined, silent);
  const { providers } = JSON.parse(doctor.stdout) as {
    readonly providers: readonly {
      readonly provider: string;
      readonly report: { readonly checks: readonly object[] };
    }[];
  };
  expect(providers.map(({ provider }) => provider)).toEqual(['overlayfs', 'docker', 'podman']);
  expect(providers[1]?.report.checks).toEqual([
    expect.objectContaining({
      finding: expect.stringContaining('Docker does not answer at '),
      remedy: expect.stringContaining('It may only be busy: try again.'),
    }),
  ]);

  await state.update(moved, { provider: 'overlayfs' }); // so that it is deleted
  await state[Symbol.asyncDispose]();
});

test('a provider, a host or a key that there is not is refused, with what there is', async () => {
  await using fixture = new CliFixture();
  for (const [key, status, hint] of [
    ['doker', 2, 'There are: overlayfs, docker, podman, kubernetes.'],
    ['docker@build-box', 3, 'litterbox host add build-box'],
    ['docker@vmware:x', 3, 'Before the colon stands one of: lima, colima, wsl.'],
    ['docker@local', 2, 'For this machine write docker alone.'],
    ['docker@-oProxyCommand=id', 2, "After @ write a machine's name"],
  ] as const) {
    const { code, stderr } = await fixture.run(['create', 'fix', '--provider', key]);
    expect({ key, code, stderr }).toEqual({ key, code: status, stderr: expect.stringContaining(hint) });
  }
  const { stdout } = await fixture.run(['list', '--json']);
  expect(JSON.parse(stdout)).toEqual([]);
});
