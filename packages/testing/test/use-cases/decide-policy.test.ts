import { expect, test } from '@jest/globals';
import { memoryProvider, realClock, SandboxShelf } from '@litterbox/memory';
import { useCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';

type Overrides = Parameters<ReturnType<typeof useCaseFixture>['decidePolicy']['decide']>[1];
const provider = memoryProvider({ shelf: new SandboxShelf(), clock: realClock });

async function decided(options: UseCaseFixtureOptions, overrides: Overrides = {}) {
  await using fixture = useCaseFixture(options);
  const result = await fixture.decidePolicy.decide(await fixture.openRepository.open(), overrides);
  return { ...result, policy: result.policyFor(provider) };
}

test('without a configuration there is a policy that opens nothing', async () => {
  const { policy, source, warnings, provider: chosen } = await decided({});
  expect(source).toEqual({ type: 'head' });
  expect(warnings).toEqual([]);
  expect(chosen).toBeUndefined();
  expect(policy.network.run).toBe('none');
  expect(policy.setup).toEqual([]);
  expect(policy.allowDegraded).toBe(false);
  expect(policy.limits.processes).toBe(512);
});

test('an option goes over a variable, and that over the file', async () => {
  const config = '[limits]\nprocesses = 100\nmemory = "1GiB"\ncpus = 1\n';
  const environment = { LITTERBOX_PROCESSES: '200', LITTERBOX_MEMORY: '2GiB', LITTERBOX_CPUS: '' };
  const { policy } = await decided({ config, environment }, { limits: { processes: 300 } });
  expect(policy.limits.processes).toBe(300);
  expect(policy.limits.memoryBytes).toBe(2 * 2 ** 30);
  expect(policy.limits.cpus).toBe(1);
});

test('an option that is undefined says nothing', async () => {
  const config = '[workspace]\nworkdir = "/elsewhere"\n';
  const overrides: object = { workdir: undefined };
  const { workdir } = await decided({ config }, overrides);
  expect(workdir).toBe('/elsewhere');
});

test('what asks for more than nothing is CONFIG_UNTRUSTED, and only what is new is named', async () => {
  const config = '[container]\nsetup-command = ["npm", "ci"]\n';
  await using fixture = useCaseFixture({ config, isTrusted: false });
  const { contentHash } = await fixture.trustConfig.status();
  await fixture.trustConfig.trust(contentHash);
  const repository = await fixture.openRepository.open();
  await fixture.decidePolicy.decide(repository, {});
  fixture.person.write('.litterbox.toml', `${config}[container.env]\nA = "b"\n`);
  await expect(fixture.decidePolicy.decide(repository, {})).rejects.toMatchObject({
    code: 'CONFIG_UNTRUSTED',
    message: expect.stringContaining('since it changed'),
    details: { facts: { wants: ['container.env.A = "b"'] } },
  });
});

test('a comment changes nothing that was agreed to', async () => {
  const config = '[container]\nsetup-command = ["npm", "ci"]\n';
  await using fixture = useCaseFixture({ config, isTrusted: false });
  await fixture.trustConfig.trust((await fixture.trustConfig.status()).contentHash);
  fixture.person.write('.litterbox.toml', `# why\n${config}`);
  expect((await fixture.trustConfig.status()).isTrusted).toBe(true);
});

test('a variable cannot say yes in the name of a person', async () => {
  await expect(decided({ environment: { LITTERBOX_ALLOW_DEGRADED: '1' } })).rejects.toMatchObject({
    code: 'CONFIG_UNTRUSTED',
  });
});

test('a configuration that is a link is CONFIG_UNREADABLE, whatever it leads to', async () => {
  const files = [
    { path: 'README', content: 'x' },
    { path: '.litterbox.toml', linkTarget: '/etc/passwd' },
  ];
  await expect(decided({ files })).rejects.toMatchObject({ code: 'CONFIG_UNREADABLE' });
});

test('one that is too large is CONFIG_TOO_LARGE, and is not read', async () => {
  const host = (real: { files: object }) => ({
    files: {
      ...real.files,
      stat: async () => ({ type: 'file', sizeBytes: 2 ** 21, mode: 0o644, uid: 0, gid: 0 }),
      read: () => Promise.reject(new Error('read')),
    },
  });
  await expect(decided({ host: host as never })).rejects.toMatchObject({ code: 'CONFIG_TOO_LARGE' });
});

test('one of another user is CONFIG_UNREADABLE, unless it is of root or of who owns the repository', async () => {
  const ownedBy = (file: number, directory: number) => (real: { files: { read: unknown } }) => ({
    facts: async () => ({ uid: 7 }),
    files: {
      ...real.files,
      stat: async (path: string) =>
        path.endsWith('.toml')
          ? { type: 'file', sizeBytes: 9, mode: 0o644, uid: file, gid: 0 }
          : { type: 'directory', sizeBytes: 0, mode: 0o755, uid: directory, gid: 0 },
    },
  });
  for (const [file, directory] of [
    [0, 8],
    [7, 8],
    [8, 8],
  ] as const)
    expect((await decided({ host: ownedBy(file, directory) as never })).source).toEqual({ type: 'head' });
  await expect(decided({ host: ownedBy(9, 8) as never })).rejects.toMatchObject({
    code: 'CONFIG_UNREADABLE',
    message: expect.stringContaining('user 9'),
  });
});

test('what is no TOML is CONFIG_SYNTAX', async () => {
  await expect(decided({ config: 'source = \n' })).rejects.toMatchObject({ code: 'CONFIG_SYNTAX' });
});

const refusals: readonly (readonly [string, string, Overrides])[] = [
  ['a root that is no absolute path', 'INVALID_ARGUMENT', { root: { type: 'directory', path: 'root' } }],
  ['a workdir below /proc', 'INVALID_ARGUMENT', { workdir: '/proc/x' }],
  ['a workdir with dots', 'INVALID_ARGUMENT', { workdir: '/a/../b' }],
  ['a setup command without words', 'COMMAND_EMPTY', { setup: [['sh', '-c', ' ']] }],
  ['a setup command with a NUL', 'COMMAND_NUL', { setup: [['a', '\0']] }],
  ['a variable that is no name', 'ENV_NAME', { environment: { 'a b': 'x' } }],
  ['a variable with a NUL', 'ENV_VALUE', { environment: { A: '\0' } }],
  ['a rule that is none', 'NET_RULE_INVALID', { network: { run: 'allow-list', allow: ['http://example.org'] } }],
];
for (const [what, code, overrides] of refusals)
  test(`${what}, given as an option, is ${code}`, async () => {
    await expect(decided({}, overrides)).rejects.toMatchObject({ code });
  });

test('rules that were given as options are in their normal form', async () => {
  const { policy } = await decided({}, { network: { run: 'allow-list', allow: ['Example.ORG'], deny: [] } });
  expect(policy.network.allow).toEqual(['example.org']);
});
