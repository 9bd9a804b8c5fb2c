import { describe, expect, test } from '@jest/globals';
import { isLitterboxError } from '../domain/errors/errors.ts';
import { GATE_PORT } from '../domain/sandbox/gate-port.ts';
import type { ProviderTraits } from '../ports/sandbox/sandbox-provider.ts';
import { configJsonSchema } from './config-json-schema.ts';
import type { ConfigOverrides } from './config-overrides.ts';
import { contentHash } from './content-hash.ts';
import { environmentOverrides } from './environment-overrides.ts';
import { editDistance, nearestName } from './nearest-name.ts';
import { parseConfig } from './parse-config.ts';
import { policyOf } from './policy-of.ts';
import { trustText, widens } from './trust-text.ts';
import { workdirOf } from './workdir-of.ts';

const MACHINE: ProviderTraits = {
  isolation: 'process',
  limits: ['memoryBytes', 'cpus', 'processes', 'openFiles'],
  workdir: 'repository-path',
  roots: ['machine', 'directory'],
};
const ENGINE: ProviderTraits = { isolation: 'container', limits: ['memoryBytes'], workdir: '/src', roots: ['image'] };
const factsOf = (traits: ProviderTraits) => ({
  repositoryRoot: '/home/me/project',
  providerName: 'some',
  traits,
  canInstall: traits.roots.includes('image'),
});
const configOf = (text: string) => parseConfig(text, '.litterbox.toml').config;
const policyFrom = (text: string, traits = MACHINE, overrides: ConfigOverrides = {}) =>
  policyOf(configOf(text), overrides, factsOf(traits));

function errorOf(action: () => unknown) {
  try {
    action();
  } catch (error) {
    if (isLitterboxError(error)) return error;
    throw error;
  }
  throw new Error('was taken');
}

describe('the policy', () => {
  test('has safe values when nothing is configured', () => {
    expect(policyFrom('')).toEqual({
      root: { type: 'machine' },
      limits: { memoryBytes: 4 * 2 ** 30, cpus: 2, processes: 512 },
      environment: {},
      setup: [],
      setupTimeoutMs: 600_000,
      timeoutMs: 120_000,
      network: { setup: 'none', run: 'none', allow: [], deny: [] },
      playgroundScope: 'sandbox',
      workspaceGit: 'none',
      worktrees: 'on-demand',
      requireMessage: false,
      allowDegraded: false,
    });
    expect(policyFrom('', ENGINE)).toMatchObject({
      root: { type: 'image', reference: 'busybox:latest' },
      limits: { memoryBytes: 4 * 2 ** 30 },
    });
  });

  test('stands on the working tree where it can, and refuses that where it cannot', () => {
    const live = '[overlayfs]\nlower = "live"\n';
    const able: ProviderTraits = { ...MACHINE, strategies: ['overlay', 'copy'], liveStrategies: ['overlay'] };
    expect(policyFrom(live, able)).toMatchObject({ lower: 'live' });
    expect(policyFrom('', able, { lower: 'live' })).toMatchObject({ lower: 'live' });
    expect(policyFrom(live, able, { lower: 'frozen' })).not.toHaveProperty('lower');
    for (const [text, traits] of [
      [live, MACHINE],
      [live, ENGINE],
      [`${live}strategy = "copy"\n`, able],
    ] as const)
      expect(errorOf(() => policyFrom(text, traits))).toMatchObject({ code: 'UNSUPPORTED' });
    // Another machine has no working tree of this person, whatever lies at its path.
    const there = { ...factsOf(able), providerName: 'overlayfs@build-box' };
    expect(errorOf(() => policyOf(configOf(live), {}, there))).toMatchObject({ code: 'UNSUPPORTED' });
    expect(widens(configOf(live))).toEqual(['overlayfs.lower']);
  });

  test('takes what is configured, and over it what a person said', () => {
    const text = `
allow-degraded = true
worktrees = "eager"
[container]
env = { A = "1", B = "2" }
setup-command = ["make"]
[limits]
memory = "1GiB"
timeout = "30s"
setup-timeout = "1h"
[overlayfs]
rootfs = "/srv/root/"
[revisions]
require-message = true`;
    expect(policyFrom(text)).toMatchObject({
      root: { type: 'directory', path: '/srv/root' },
      limits: { memoryBytes: 2 ** 30, cpus: 2 },
      environment: { A: '1', B: '2' },
      setup: [['make']],
      timeoutMs: 30_000,
      setupTimeoutMs: 3_600_000,
      worktrees: 'eager',
      requireMessage: true,
      allowDegraded: true,
    });
    const overrides: ConfigOverrides = {
      limits: { memoryBytes: 2 ** 31 },
      environment: { B: '3' },
      setup: [],
      timeoutMs: 1,
      allowDegraded: false,
      root: { type: 'machine' },
    };
    expect(policyFrom(text, MACHINE, overrides)).toMatchObject({
      root: { type: 'machine' },
      limits: { memoryBytes: 2 ** 31 },
      environment: { A: '1', B: '3' },
      setup: [],
      timeoutMs: 1,
      allowDegraded: false,
    });
  });

  const refused: Readonly<Record<string, string>> = {
    ssh: 'ssh.host = "a"',
    'overlayfs.lower': 'overlayfs.lower = "live"',
    'retention.max-age': 'retention.max-age = "30d"',
    'retention.max-sandboxes': 'retention.max-sandboxes = 3',
    'retention.max-disk': 'retention.max-disk = "10GiB"',
    'limits.disk': 'limits.disk = "1GiB"',
    'limits.disk-io': 'limits.disk-io = "1MiB"',
    'container.base-image': 'container.base-image = "debian"',
    'container.install-command': 'container.install-command = ["make"]',
  };
  for (const [key, text] of Object.entries(refused)) {
    test(`cannot hold ${key}, and says so`, () => {
      const error = errorOf(() => policyFrom(text));
      expect(error).toMatchObject({ code: 'UNSUPPORTED', details: { provider: 'some', hint: expect.any(String) } });
      expect(error.message).toContain(key);
    });
  }

  test('the network is open for the phases somebody named, and for the rules beside them', () => {
    const text = 'network.setup = "allow-list"\nnetwork.allow = ["example.org"]\nnetwork.deny = ["a.example.org"]';
    expect(policyFrom(text).network).toEqual({
      setup: 'allow-list',
      run: 'none',
      allow: ['example.org'],
      deny: ['a.example.org'],
    });
    expect(policyFrom(text, MACHINE, { network: { setup: 'none', run: 'allow-list' } }).network).toMatchObject({
      setup: 'none',
      run: 'allow-list',
    });
  });

  test.each(['allow', 'deny'])('rules of network.%s without a phase that has a network are a mistake', (list) => {
    const error = errorOf(() => policyFrom(`network.${list} = ["example.org"]`));
    expect(error).toMatchObject({ code: 'CONFIG_VALUE', details: { hint: expect.stringContaining('network.setup') } });
    expect(error.message).toContain(`network.${list}`);
  });

  test("no port inside may be that of the network's proxy, where there is one", () => {
    const port = `[container.ports]\nweb = ${GATE_PORT}`;
    expect(policyFrom(port).network.run).toBe('none');
    const error = errorOf(() => policyFrom(`network.run = "allow-list"\n${port}`));
    expect(error.code).toBe('CONFIG_VALUE');
    expect(error.message).toContain('container.ports.web');
  });

  test('what is to be installed is there for images alone, and only where it is asked for', () => {
    expect(policyFrom('container.install-command = "make tools"', ENGINE).install).toEqual(['make tools']);
    expect(policyFrom('', ENGINE)).not.toHaveProperty('install');
  });

  test('an image for engines and a directory for copy-on-write may stand in one file', () => {
    const text = 'container.base-image = "debian:12"\noverlayfs.rootfs = "/srv/root"';
    expect(policyFrom(text, ENGINE).root).toEqual({ type: 'image', reference: 'debian:12' });
    expect(policyFrom(text, MACHINE).root).toEqual({ type: 'directory', path: '/srv/root' });
    expect(errorOf(() => policyFrom('', ENGINE, { root: { type: 'machine' } })).code).toBe('UNSUPPORTED');
    expect(errorOf(() => policyFrom('', { ...ENGINE, roots: ['directory'] })).message).toContain('overlayfs.rootfs');
  });

  test('the workspace is where somebody said, else where the provider puts it', () => {
    const config = configOf('workspace.workdir = "/work//x/"');
    expect(workdirOf(config, {}, factsOf(MACHINE))).toBe('/work/x');
    expect(workdirOf(config, { workdir: '/y' }, factsOf(MACHINE))).toBe('/y');
    expect(workdirOf(configOf(''), {}, factsOf(MACHINE))).toBe('/home/me/project');
    expect(workdirOf(configOf(''), {}, factsOf(ENGINE))).toBe('/src');
  });
});

describe('the environment', () => {
  test('overrides single keys', () => {
    expect(
      environmentOverrides({
        LITTERBOX_PROVIDER: 'docker',
        LITTERBOX_MEMORY: '1GiB',
        LITTERBOX_CPUS: '0.5',
        LITTERBOX_TIMEOUT: '5s',
        LITTERBOX_WORKDIR: '/w',
        LITTERBOX_WORKSPACE_GIT: 'throwaway',
        LITTERBOX_REQUIRE_MESSAGE: '1',
        LITTERBOX_WORKTREES: '',
        LITTERBOX_HOME: '/x',
        LITTERBOX_PORT_WEB: '1',
        PATH: '/bin',
      }),
    ).toEqual({
      provider: 'docker',
      limits: { memoryBytes: 2 ** 30, cpus: 0.5 },
      timeoutMs: 5000,
      workdir: '/w',
      workspaceGit: 'throwaway',
      requireMessage: true,
    });
    expect(environmentOverrides({})).toEqual({});
  });

  test('is refused by the rules of the file, under the name of the variable', () => {
    for (const [name, text, code] of [
      ['LITTERBOX_MEMORY', 'lots', 'CONFIG_VALUE'],
      ['LITTERBOX_CPUS', 'two', 'CONFIG_TYPE'],
      ['LITTERBOX_PROCESSES', '3', 'CONFIG_VALUE'],
      ['LITTERBOX_PROVIDER', 'Docker', 'CONFIG_VALUE'],
      ['LITTERBOX_WORKDIR', '/proc', 'WORKDIR_FORBIDDEN'],
      ['LITTERBOX_REQUIRE_MESSAGE', 'yes', 'CONFIG_TYPE'],
    ] as const) {
      const error = errorOf(() => environmentOverrides({ [name]: text }));
      expect(error.code).toBe(code);
      expect(error.message.startsWith(`${name}: got `)).toBe(true);
      expect(error.details.hint).toContain(name);
    }
  });

  test('cannot open anything', () => {
    for (const name of [
      'ALLOW_DEGRADED',
      'BASE_IMAGE',
      'INCLUDE',
      'INSTALL_COMMAND',
      'HOSTS',
      'SETUP_COMMAND',
      'NETWORK_RUN',
      'NETWORK',
      'PORTS',
      'MCP_GIT',
      'OVERLAYFS_LOWER',
      'CONTAINER_SERVICES',
      'SOURCE',
      'SSH_HOST',
      'WORKTREES',
    ]) {
      const error = errorOf(() => environmentOverrides({ [`LITTERBOX_${name}`]: '1' }));
      expect(error).toMatchObject({ code: 'CONFIG_UNTRUSTED', details: { hint: expect.any(String) } });
    }
  });

  test('gives no more of the machine than a sandbox gets anyway', () => {
    for (const [name, text] of [
      ['LITTERBOX_MEMORY', '900GiB'],
      ['LITTERBOX_CPUS', '64'],
      ['LITTERBOX_PROCESSES', '10000'],
      ['LITTERBOX_OPEN_FILES', '100000'],
      ['LITTERBOX_PLAYGROUND_SCOPE', 'shared'],
    ] as const) {
      const error = errorOf(() => environmentOverrides({ LITTERBOX_TIMEOUT: '5s', [name]: text }));
      expect(error).toMatchObject({ code: 'CONFIG_UNTRUSTED', message: expect.stringMatching(`^${name} is set`) });
    }
    expect(environmentOverrides({ LITTERBOX_MEMORY: '4GiB', LITTERBOX_CPUS: '2' })).toMatchObject({
      limits: { memoryBytes: 4 * 2 ** 30, cpus: 2 },
    });
  });
});

describe('what comes along', () => {
  const bringing = { ...MACHINE, canBring: true } as const;

  test('is what the file names, or what is said in its place, without what lies within another', () => {
    const text = 'include = ["target", "./a/node_modules/", "target/debug"]';
    expect(policyFrom(text, bringing).include).toEqual(['a/node_modules', 'target']);
    expect(policyFrom(text, bringing, { include: ['dist'] }).include).toEqual(['dist']);
    expect(policyFrom(text, bringing, { include: [] })).not.toHaveProperty('include');
  });

  test('is refused by a provider that brings nothing', () => {
    expect(errorOf(() => policyFrom('include = ["target"]'))).toMatchObject({ code: 'UNSUPPORTED' });
  });
});

describe('trust', () => {
  const opening: Readonly<Record<string, string>> = {
    'allow-degraded': 'allow-degraded = true',
    'container.base-image': 'container.base-image = "debian"',
    'container.env.A': 'container.env.A = "b"',
    'container.ports.web': 'container.ports.web = 80',
    'container.services.web': 'container.services.web.command = ["a"]',
    'container.install-command': 'container.install-command = ["make"]',
    'container.setup-command': 'container.setup-command = ["make"]',
    'endpoints.model': '[endpoints.model]\nkind = "openai"\nsecret = "A"',
    hosts: 'hosts = ["build-box"]',
    include: 'include = ["node_modules"]',
    'kubernetes.pods': 'kubernetes.pods = "agent-sandbox"',
    'limits.memory': 'limits.memory = "64GiB"',
    'limits.cpus': 'limits.cpus = 64',
    'limits.processes': 'limits.processes = 10000',
    'limits.open-files': 'limits.open-files = 100000',
    'mcp.git': 'mcp.git = true',
    'network.allow': 'network.allow = ["example.org"]',
    'network.allow-private': 'network.allow-private = ["registry.internal"]',
    'network.run': 'network.run = "allow-list"',
    'network.setup': 'network.setup = "allow-list"',
    'overlayfs.lower': 'overlayfs.lower = "live"',
    'overlayfs.rootfs': 'overlayfs.rootfs = "/srv/root"',
    'playground.scope': 'playground.scope = "shared"',
    provider: 'provider = "docker"',
    'secrets.A': 'secrets = ["A"]',
    source: 'source = "worktree"',
    ssh: 'ssh.host = "a"',
    worktrees: 'worktrees = "eager"',
  };
  for (const [key, text] of Object.entries(opening)) {
    test(`${key} has to be agreed to`, () => {
      expect(widens(configOf(text))).toEqual([key]);
      expect(trustText(configOf(text))).toMatch(new RegExp(`^${key} = .+\\n$`));
    });
  }

  test('what closes, and comments and order, may change without asking', () => {
    const closing = `provider = "overlayfs"\n[limits]\nmemory = "64MiB"\ncpus = 1\ntimeout = "1s"
[workspace]\ngit = "throwaway"\n[revisions]\nrequire-message = true\n[retention]\nmax-age = "1d"`;
    expect(widens(configOf(closing))).toEqual([]);
    expect(trustText(configOf(closing))).toBe('');
    const one = '# a\ncontainer.env = { B = "2", A = "1" }\nsource = "worktree"';
    const two = 'source = "worktree"\n[container.env]\nA = "1" # b\nB = "2"\n[limits]\ncpus = 1';
    expect(trustText(configOf(one))).toBe('container.env.A = "1"\ncontainer.env.B = "2"\nsource = "worktree"\n');
    expect(trustText(configOf(two))).toBe(trustText(configOf(one)));
  });

  test('the hash is that of SHA-256', async () => {
    expect(await contentHash('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

test('the published schema knows every section and no key twice', () => {
  const schema = configJsonSchema();
  const { properties } = schema;
  const sections =
    'agents allow-degraded container endpoints hosts include kubernetes limits mcp mounts network overlayfs playground provider retention revisions secret ' +
    'secrets source ssh workspace worktrees';
  expect(Object.keys(Object(properties)).sort().join(' ')).toBe(sections);
  expect(JSON.stringify(schema)).toContain('"setup-command"');
  expect(schema['$schema']).toContain('json-schema.org');
});

test('distances between words', () => {
  expect(editDistance('delte', 'delete')).toBe(1);
  expect(editDistance('ab', 'ba')).toBe(1);
  expect(editDistance('', 'abc')).toBe(3);
  expect(editDistance('same', 'same')).toBe(0);
  expect(nearestName('delte', ['create', 'delete'])).toBe('delete');
  expect(nearestName('x', ['create', 'delete'])).toBeUndefined();
});

test('passes the strategy on to the provider that has strategies, and nothing when it is free to choose', () => {
  const some = { ...MACHINE, strategies: ['overlay', 'reflink'] };
  const strategyOf = (text: string, traits: ProviderTraits) =>
    policyOf(configOf(text), {}, { ...factsOf(traits), providerName: 'overlayfs@build-box' }).strategy;
  expect(strategyOf('overlayfs.strategy = "reflink"', some)).toBe('reflink');
  expect(strategyOf('overlayfs.strategy = "auto"', some)).toBeUndefined();
  expect(strategyOf('overlayfs.strategy = "reflink"', MACHINE)).toBeUndefined();
  expect(errorOf(() => strategyOf('overlayfs.strategy = "zfs"', some))).toMatchObject({
    code: 'UNSUPPORTED',
    details: { provider: 'overlayfs@build-box', hint: 'Choose one of: auto, overlay, reflink.' },
  });
});

test('who makes pods is passed on to the provider that has pods, and to no other', () => {
  const pods = { ...ENGINE, strategies: ['agent-sandbox', 'warm-pool'] };
  const strategyOf = (text: string, traits: ProviderTraits) => policyFrom(text, traits).strategy;
  expect(strategyOf('kubernetes.pods = "warm-pool/fast"', pods)).toBe('warm-pool/fast');
  expect(strategyOf('kubernetes.pods = "agent-sandbox"\noverlayfs.strategy = "zfs"', pods)).toBe('agent-sandbox');
  expect(strategyOf('kubernetes.pods = "litterbox"', pods)).toBeUndefined();
  expect(strategyOf('kubernetes.pods = "warm-pool/fast"', ENGINE)).toBeUndefined();
  for (const name of ['', '../x', 'Fast', '-'])
    expect(errorOf(() => configOf(`kubernetes.pods = "warm-pool/${name}"`)).code).toBe('CONFIG_VALUE');
});

test('a limit that root alone can enforce is refused with that reason', () => {
  const traits = { ...MACHINE, rootLimits: ['diskBytes'] } as const;
  const { code, message, details } = errorOf(() => policyFrom('[limits]\ndisk = "1GiB"\n', traits));
  expect({ code, message, hint: details.hint }).toEqual({
    code: 'UNSUPPORTED',
    message: 'limits.disk can be enforced by root alone (provider some).',
    hint: expect.stringContaining('Run Litterbox as root'),
  });
});
