import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { stringify } from 'smol-toml';
import { isLitterboxError, type LitterboxErrorCode } from '../domain/errors/errors.ts';
import { parseConfig } from './parse-config.ts';
import { isReservedVariable } from './settings/variable-problem.ts';

const PLACE = '.litterbox.toml';
const utf16 = (text: string) => new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'));

function refusalOf(text: Uint8Array | string) {
  try {
    parseConfig(text, PLACE);
  } catch (error) {
    if (isLitterboxError(error)) return error;
    throw error;
  }
  throw new Error('was taken');
}

type Row = readonly [name: string, input: string | Uint8Array, code: LitterboxErrorCode, ...parts: readonly string[]];

const rows: readonly Row[] = [
  ['B02 syntax', 'a = 1\n\n[limits]\ncpus 2\n', 'CONFIG_SYNTAX', '.litterbox.toml:4:6 '],
  ['B02 unfinished text', 'provider = "docker\n', 'CONFIG_SYNTAX', '.litterbox.toml:1:'],
  ['B03 UTF-16', utf16('a = 1'), 'CONFIG_ENCODING', 'byte 0 is not UTF-8'],
  ['B03 a stray byte', Uint8Array.of(0x61, 0x20, 0xc3, 0x28), 'CONFIG_ENCODING', 'byte 2 is not UTF-8'],
  ['B03 a cut character', Uint8Array.of(0x23, 0xe2, 0x82), 'CONFIG_ENCODING', 'byte 1 is not UTF-8'],
  ['B03 NUL', 'a = "\u0000"', 'CONFIG_ENCODING', 'byte 5 is NUL'],
  ['B03 a lone surrogate', '# \ud800', 'CONFIG_ENCODING', 'not UTF-8'],
  ['B04 too large', `# ${'x'.repeat(262_144)}`, 'CONFIG_TOO_LARGE', '262146 bytes, at most 262144'],
  ['B04 nested by dots', `[${'a.'.repeat(10_000)}a]`, 'CONFIG_TOO_DEEP', 'deeper than 32'],
  ['B04 nested by brackets', `a = ${'['.repeat(100)}${']'.repeat(100)}`, 'CONFIG_TOO_DEEP'],
  ['B04 nested by very many brackets', `a = ${'['.repeat(50_000)}`, 'CONFIG_TOO_DEEP'],
  ['B04 nested by braces', `a = ${'{a='.repeat(60)}1${'}'.repeat(60)}`, 'CONFIG_TOO_DEEP'],
  ['B07 a key twice', 'provider = "docker"\nprovider = "podman"', 'CONFIG_SYNTAX', ':2:1 ', 'duplicate key'],
  ['B07 a table twice', '[limits]\n[limits]', 'CONFIG_SYNTAX', ':2:', 'duplicate'],
  ['a section that is no table', '\ncontainer = 5', 'CONFIG_TYPE', ':2:1 container: want a table'],
  ...[5, '""', '"--privileged"', '"a b"', '"img:tag@sha256:xyz"', `"${'a'.repeat(3000)}"`, '"Debian"'].map(
    (value): Row => [
      `B08 base-image ${String(value).slice(0, 20)}`,
      `[container]\n  base-image = ${value}`,
      'CONFIG_VALUE',
      ':2:3 container.base-image: ',
      'not an image reference',
    ],
  ),
  ['B10 setup-command a number', 'container.setup-command = 5', 'CONFIG_TYPE', 'list of strings, e.g. ["npm","ci"]'],
  [
    'B10 install-command a number',
    'container.install-command = 5',
    'CONFIG_TYPE',
    'want list of strings, e.g. ["npm","ci"]',
  ],
  ['B11 an empty list', 'container.setup-command = []', 'CONFIG_VALUE', 'empty command'],
  ['B11 an empty program', 'container.setup-command = [""]', 'CONFIG_VALUE', 'empty command'],
  ['B11 an empty text', 'container.setup-command = " "', 'CONFIG_VALUE', 'empty command'],
  ['B11 a number', 'container.setup-command = ["a",\n 1]', 'CONFIG_TYPE', ':2:2 ', 'want a string'],
  ['B11 NUL', 'container.setup-command = ["a\\u0000b"]', 'CONFIG_VALUE', 'NUL not allowed'],
  ['B11 NUL in a text', 'container.setup-command = "a\\u0000b"', 'CONFIG_VALUE', 'NUL not allowed'],
  ['B11 an empty list of several', 'container.setup-command = [["a"], []]', 'CONFIG_VALUE', ':1:35 ', 'empty command'],
  ['B12 a service that is a text', '[container.services]\nweb = "x"', 'CONFIG_TYPE', ':2:1 container.services.web: '],
  [
    'B12 a service without a command',
    '[container.services.web]\nsignals = {}',
    'CONFIG_MISSING',
    ':1:2 container.services.web.command: is missing',
  ],
  ...['../x', 'a b', '-h', 'a'.repeat(65), ''].map(
    (name): Row => [`B12 a service named ${name}`, `container.services."${name}" = {}`, 'CONFIG_NAME', ':1:1 '],
  ),
  [
    'B12 a signal',
    '[container.services.web]\ncommand = ["a"]\nsignals.stop = "TERM"',
    'CONFIG_VALUE',
    ':3:1 container.services.web.signals.stop: got "TERM", want one of SIGTERM',
  ],
  ...['0', '70000', '"80"', '-1', '1.5', '{ target = 0 }'].map(
    (value): Row => [
      `B14 a port ${value}`,
      `[container.ports]\nweb = ${value}`,
      'CONFIG_VALUE',
      ':2:',
      'container.ports.web',
      '1..65535',
    ],
  ),
  [
    'B14 a port twice',
    '[container.ports]\na = 80\nb = { target = 80 }',
    'PORT_DUPLICATE',
    ':3:',
    '80 is the port of a',
  ],
  ['B14 a reserved variable', 'container.ports.path = 80', 'PORT_ENV_RESERVED', 'PATH is reserved'],
  ['B14 one variable for two', 'container.ports = { a-b = 1, a_b = 2 }', 'PORT_ENV_RESERVED', ':1:30 ', 'A_B'],
  ['B14 a port name', 'container.ports."a b" = 80', 'CONFIG_NAME'],
  ...['PATH', 'LD_PRELOAD', 'BASH_ENV', 'GIT_DIR', 'LITTERBOX_HOME', 'NODE_OPTIONS'].map(
    (name): Row => [`B15 ${name}`, `[container.env]\n${name} = "x"`, 'ENV_RESERVED', ':2:1 ', name],
  ),
  ['B15 a name with =', '[container.env]\n"A=B" = "x"', 'ENV_NAME', ':2:1 ', '"A=B"'],
  ['B15 a name with a digit in front', '[container.env]\n1A = "x"', 'ENV_NAME'],
  ['B15 a value with NUL', '[container.env]\nA = "x\\u0000"', 'ENV_VALUE', 'NUL'],
  ['B15 a long value', `[container.env]\nA = "${'x'.repeat(40_000)}"`, 'ENV_VALUE', '40000 characters'],
  ['B15 a number', '[container.env]\nA = 1', 'CONFIG_TYPE', 'got 1, want a string'],
  ...['"lots"', '"-1"', '"1KB"', '"1e99G"', '"63MiB"', '"17TiB"', '""'].map(
    (value): Row => [
      `B16 memory ${value}`,
      `[limits]\nmemory = ${value}`,
      'CONFIG_VALUE',
      ':2:1 limits.memory: got ',
      'e.g. "2GiB", min 64MiB',
    ],
  ),
  ['B16 memory a number', 'limits.memory = 5', 'CONFIG_TYPE', 'in quotes'],
  ...['0', 'nan', 'inf', '-1', '2000'].map(
    (value): Row => [`B16 cpus ${value}`, `limits.cpus = ${value}`, 'CONFIG_VALUE', 'limits.cpus', '0.01..1024'],
  ),
  ['B16 cpus a text', 'limits.cpus = "2"', 'CONFIG_TYPE'],
  ['B16 processes', 'limits.processes = 3', 'CONFIG_VALUE', 'got 3, want a whole number, 16..'],
  ['B16 open files', 'limits.open-files = 10.5', 'CONFIG_VALUE'],
  ['B18 network a text', 'network = "yes"', 'NET_RULE_INVALID', ':1:1 network'],
  ...(
    '*|*.com|http://x/|x:99999|10.0.0.1|localhost|EXA MPLE.com|exa mple||*.co.uk|*.github.io|127.1|x.0x7f|a..b|-a.com|' +
    'a_b.com|a.com/|a.com:0|[::1]|*.*.example.com|www.*.com|ä.com|x\\u0000y.com|xn--\\u0000.com|xn--.com|printer.local|' +
    '*.s3.us-east-1.amazonaws.com|*.eu.s3-website.amazonaws.com|*.googleapis.com|*.storage.googleapis.com|*.r2.dev|*.blob.core.windows.net|*.run.app|' +
    '*.trycloudflare.com|*.githubusercontent.com|*.duckdns.org|*.nip.io|*.sslip.io|*.me.uk|*.ne.jp|*.deno.dev|*.supabase.co|' +
    `169.254.169.254|${'a'.repeat(64)}.com`
  )
    .split('|')
    .map(
      (rule): Row => [`B18 ${rule}`, `[network]\nallow = ["${rule}"]`, 'NET_RULE_INVALID', ':2:10 ', '*.example.org'],
    ),
  ['B18 not a list', 'network.allow = "example.org"', 'NET_RULE_INVALID'],
  ['B18 another mode', 'network.run = "all"', 'CONFIG_VALUE', 'one of none, allow-list'],
  ['B19 provider', '# a\nprovider = "Docker"', 'CONFIG_VALUE', ':2:1 provider: got "Docker", want KIND or KIND@HOST'],
  ...['', '-oX', 'a;b', 'h\\nX', 'a b', '$(id)', 'user@host'].map(
    (host): Row => [`B19 ssh host ${host}`, `[ssh]\nhost = "${host}"`, 'SSH_HOST_INVALID', ':2:1 ssh.host'],
  ),
  ['B19 ssh without a host', '[ssh]\nport = 22', 'CONFIG_MISSING', 'ssh.host: is missing'],
  [
    'B19 ssh port',
    'ssh = { host = "a", port = "22" }',
    'CONFIG_TYPE',
    ':1:21 ssh.port: got "22", want a whole number, 1..65535',
  ],
  ...['/', '~/.ssh', '/var/run/docker.sock', '../x'].map(
    (path): Row => [`B20 ${path}`, `mounts = ["${path}"]`, 'MOUNT_FORBIDDEN', ':1:1 mounts'],
  ),
  ...['/etc', '../x', 'a/../..', '', '.', '.git', 'sub/.GIT/config', '.litterbox/worktrees', 'a\\u0000b'].map(
    (path): Row => [
      `include ${path}`,
      `include = [\n "ok",\n "${path}"]`,
      'CONFIG_VALUE',
      ':3:2 include.1: got ',
      'want a path below the top of the working tree',
    ],
  ),
  ...['-oX', '../x', 'a b', 'Build', 'user@host', '$(id)', 'a:b:c', ''].map(
    (host): Row => [
      `hosts ${host}`,
      `hosts = [\n "local",\n "${host}"]`,
      'CONFIG_VALUE',
      ':3:2 hosts.1: got ',
      'want the name of a host',
    ],
  ),
  ['hosts twice', 'hosts = ["vm:a", "vm:A"]', 'CONFIG_VALUE', 'hosts.1: got "vm:A", want each host once'],
  ['hosts none', 'hosts = []', 'CONFIG_VALUE', 'got 0 hosts, want 1 to 16'],
  ['hosts a text', 'hosts = "a"', 'CONFIG_TYPE', 'want a list of hosts'],
  ['hosts a number', 'hosts = [1]', 'CONFIG_TYPE'],
  ['include a text', 'include = "target"', 'CONFIG_TYPE', 'want a list of paths'],
  ['include a number', 'include = [1]', 'CONFIG_TYPE'],
  ['include very many', `include = [${'"a",'.repeat(65)}]`, 'CONFIG_VALUE', 'got 65 paths, want at most 64'],
  ['B22 a secret name', 'secrets = ["x y"]', 'SECRET_NAME', ':1:12 ', '"x y"'],
  ['B22 a value', '[secrets]\nx = "hunter2"', 'SECRET_INLINE_FORBIDDEN', ':2:1 secrets.x'],
  ['B22 a value in a table', '[secrets.x]\nvalue = "hunter2"', 'SECRET_INLINE_FORBIDDEN'],
  ['a secret of two places', 'secrets.x = { pass = "a", keychain = "b" }', 'CONFIG_VALUE', 'want one place'],
  ['a secret of an unknown place', 'secrets.x = { vault = "hunter2" }', 'CONFIG_VALUE', 'want one place'],
  ['a secret by a program', 'secrets.x = { command = ["sh"] }', 'CONFIG_VALUE', 'want one place'],
  ['an entry that is an option', 'secrets.x = { pass = "-c" }', 'CONFIG_VALUE', 'secrets.x.pass', 'want the name'],
  ['a keychain entry that is an option', 'secrets.x = { keychain = "--all" }', 'CONFIG_VALUE', 'want the name'],
  ['a secret in no variable', 'secrets.x = { environment = "A=B" }', 'CONFIG_VALUE', 'want the name of a variable'],
  ['a secret that is exposed as what steers programs', 'secrets.x = { expose = "LD_PRELOAD" }', 'ENV_RESERVED'],
  [
    'a secret that is exposed as PATH',
    'secrets.x = { pass = "a", expose = "PATH" }',
    'ENV_RESERVED',
    'secrets.x.expose',
  ],
  ['a secret that is exposed as no name', 'secrets.x = { expose = "A=B" }', 'ENV_NAME', 'secrets.x.expose'],
  ['a secret that is exposed as a flag', 'secrets.x = { expose = true }', 'CONFIG_TYPE', 'secrets.x.expose'],
  ['a secret in a relative file', 'secrets.x = { file = "token" }', 'CONFIG_VALUE', 'want the absolute path'],
  ['B22 a value under another key', 'secret.x.value = "hunter2"', 'SECRET_INLINE_FORBIDDEN', ':1:1 secret'],
  ...['"10"', '"0s"', '"1y"', '"25h"', '"1.5s"', '"-1s"'].map(
    (value): Row => [`B23 ${value}`, `[limits]\ntimeout = ${value}`, 'CONFIG_VALUE', 'duration like "30s", 1s..24h'],
  ),
  ['B23 a number', 'limits.setup-timeout = 10', 'CONFIG_TYPE', 'limits.setup-timeout: got 10'],
  ['workdir /', 'workspace.workdir = "/a/.."', 'WORKDIR_FORBIDDEN'],
  ['workdir below /proc', 'workspace.workdir = "/proc/self"', 'WORKDIR_FORBIDDEN'],
  ['workdir where programs are', 'workspace.workdir = "/usr/local/bin"', 'WORKDIR_FORBIDDEN', 'where programs are'],
  ['workdir over programs', 'workspace.workdir = "/usr"', 'WORKDIR_FORBIDDEN'],
  ['workdir over libraries', 'workspace.workdir = "/lib64/x"', 'WORKDIR_FORBIDDEN'],
  ['workdir relative', 'workspace.workdir = "src"', 'CONFIG_VALUE', 'absolute path'],
  ['a truth in quotes', 'allow-degraded = "true"', 'CONFIG_TYPE', 'true or false'],
  ['a source', 'source = "index"', 'CONFIG_VALUE', 'one of head, worktree'],
  ['a date', 'provider = 1979-05-27', 'CONFIG_TYPE'],
  [
    'B19 provider on this machine by name',
    'provider = "docker@local"',
    'CONFIG_VALUE',
    'got "docker@local", want KIND or KIND@HOST',
  ],
  ['B19 provider on no machine', 'provider = "docker@-oProxyCommand"', 'CONFIG_VALUE', 'want KIND or KIND@HOST'],
];

describe('what is refused', () => {
  for (const [name, input, code, ...parts] of rows) {
    test(`${name} is ${code}`, () => {
      const error = refusalOf(input);
      expect(error.code).toBe(code);
      for (const part of parts) expect(error.message).toContain(part);
      expect(error.message.startsWith(PLACE)).toBe(true);
      expect(error.message).not.toMatch(/[\n\0]/);
      expect(error.message.length).toBeLessThan(500);
      expect(error.details.hint).toEqual(expect.any(String));
    });
  }

  test('a secret that stands in the file is never repeated', () => {
    for (const text of [
      'secrets.x = "hunter2"',
      'secrets = { x = { value = "hunter2" } }',
      'secret = "hunter2"',
      'secrets.x = { hunter2 = "hunter2" }',
      'endpoints.x = { secret = "hunter2!" }',
      'endpoints.x = { secret = "A", url = "https://u:hunter2@example.org" }',
      'endpoints.x = { secret = "A", url = "https://example.org/?key=hunter2" }',
      'endpoints.x = { secret = "A", url = "https://example.org", header = "x-api-key: hunter2" }',
    ]) {
      expect(JSON.stringify([refusalOf(text).message, refusalOf(text).details])).not.toContain('hunter2');
    }
  });
});

describe('what is taken', () => {
  test('nothing: everything has a default', () => {
    const { config, warnings } = parseConfig('', PLACE);
    expect(warnings).toEqual([]);
    expect(config).toMatchObject({
      source: 'head',
      worktrees: 'on-demand',
      allowDegraded: false,
      container: { setup: [], services: {}, ports: {}, environment: {} },
      network: { setup: 'none', run: 'none', allow: [], deny: [] },
      playground: { scope: 'sandbox' },
      workspace: { git: 'none' },
      revisions: { requireMessage: false },
    });
  });

  test('a byte order mark and line ends of Windows', () => {
    const bytes = new TextEncoder().encode('\ufeff[limits]\r\ncpus = 0.5\r\nmemory = """2GiB"""\r\n');
    expect(parseConfig(bytes, PLACE).config.limits).toMatchObject({ cpus: 0.5, memoryBytes: 2 ** 31 });
  });

  test('every form of the setup command', () => {
    const setupOf = (text: string) => parseConfig(`container.setup-command = ${text}`, PLACE).config.container.setup;
    expect(setupOf('["npm", "ci", ""]')).toEqual([['npm', 'ci', '']]);
    expect(setupOf('"npm ci && npm test"')).toEqual(['npm ci && npm test']);
    expect(setupOf('[["a"], ["b", "c"]]')).toEqual([['a'], ['b', 'c']]);
  });

  test('every form of a port, and services with signals', () => {
    const { container } = parseConfig(
      `[container.ports]
web = 8080
api = { target = 81 }
free = {}
[container.services]
web = { command = ["npm", "start"], signals = { restart = "SIGHUP" } }`,
      PLACE,
    ).config;
    expect(container.ports).toEqual({ web: { target: 8080 }, api: { target: 81 }, free: {} });
    expect(container.services).toEqual({
      web: { command: ['npm', 'start'], signals: { stop: 'SIGTERM', restart: 'SIGHUP' } },
    });
  });

  test('secrets as a list and as a table', () => {
    expect(parseConfig('secrets = ["A"]', PLACE).config.secrets).toEqual({ A: { keychain: 'A' } });
    expect(parseConfig('[secrets]\nA = { keychain = "work/a" }', PLACE).config.secrets).toEqual({
      A: { keychain: 'work/a' },
    });
    const places = 'A = {}\nB = { pass = "b" }\nC = { environment = "C_1" }\nD = { file = "/home/ada/d" }';
    expect(parseConfig(`[secrets]\n${places}`, PLACE).config.secrets).toEqual({
      A: { keychain: 'A' },
      B: { pass: 'b' },
      C: { environment: 'C_1' },
      D: { file: '/home/ada/d' },
    });
    expect(parseConfig('[secrets]\nA = { expose = "B" }', PLACE).config.secrets).toEqual({
      A: { keychain: 'A', expose: 'B' },
    });
  });

  test('rules in their normal form, with a notice', () => {
    const text = '[network]\nallow = ["EXAMPLE.com.", "*.npmjs.org:443", "xn--bcher-kva.example"]';
    const { config, warnings } = parseConfig(text, PLACE);
    expect(config.network.allow).toEqual(['example.com', '*.npmjs.org:443', 'xn--bcher-kva.example']);
    expect(warnings).toEqual([
      {
        code: 'CONFIG_NORMALISED',
        key: 'network.allow',
        message: '.litterbox.toml:2:10 "EXAMPLE.com." is read as example.com.',
      },
    ]);
  });

  test('image references as docker takes them', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    for (const image of [
      'busybox',
      'debian:12',
      'ghcr.io/a/b-c:v1.0',
      `localhost:5000/a@${digest}`,
      `a/b:c@${digest}`,
    ]) {
      expect(parseConfig(`container.base-image = "${image}"`, PLACE).config.container.baseImage).toBe(image);
    }
  });

  test('unknown keys, each with a warning and the nearest name', () => {
    const nearest: Readonly<Record<string, string | undefined>> = {
      'container.base_image = "x"': 'container.base-image',
      'container.baseImage = "x"': 'container.base-image',
      'limits.memmory = "1GiB"': 'limits.memory',
      'limits.pids = 3': 'limits.processes',
      'providr = "docker"': 'provider',
      'base-image = "x"': 'container.base-image',
      'contaner.env = {}': 'container',
      'network.alow = []': 'network.allow',
      'zzzzzz = 1': undefined,
      '"a b\\u202e" = 1': undefined,
      '[container.services.web]\ncommand = ["a"]\nsignal = {}': 'container.services.web.signals',
      '__proto__ = 1': undefined,
      'constructor.x = 1': undefined,
    };
    for (const [text, name] of Object.entries(nearest)) {
      const { warnings } = parseConfig(text, PLACE);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatchObject({ code: 'CONFIG_UNKNOWN_KEY' });
      expect(warnings[0]?.nearest).toBe(name);
      expect(warnings[0]?.message).toMatch(/^\.litterbox\.toml:\d+:\d+ /);
      if (name !== undefined) expect(warnings[0]?.message).toContain(`did you mean ${name}?`);
    }
    expect(parseConfig('container.env.ANYTHING = "x"\ncontainer.ports.p = 1', PLACE).warnings).toEqual([]);
  });
});

describe('properties', () => {
  const word = fc.constantFrom(
    'container',
    'limits',
    'memory',
    'env',
    'network',
    'allow',
    '[',
    ']',
    '=',
    '"',
    "'",
    '\n',
    '{',
    '}',
    '1',
    '.',
    ',',
    '#',
    '\\',
    'secrets',
    'ports',
  );
  test('whatever the text, nothing is thrown but a LitterboxError with a hint', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(word, { maxLength: 40 }).map((words) => words.join(' ')),
    );
    fc.assert(
      fc.property(fc.oneof(texts, fc.uint8Array({ maxLength: 100 })), (text) => {
        try {
          parseConfig(text, PLACE);
        } catch (error) {
          expect(isLitterboxError(error) && error.details.hint).toEqual(expect.any(String));
        }
      }),
      { numRuns: 1500 },
    );
  });

  test('whatever the values under the keys, nothing is thrown but a LitterboxError with a line', () => {
    const key = fc.constantFrom(
      'provider',
      'secrets',
      'mounts',
      'ssh',
      'container',
      'limits',
      'network',
      'workspace',
      'mcp',
    );
    const below = fc.constantFrom(
      'env',
      'ports',
      'services',
      'install-command',
      'setup-command',
      'base-image',
      'memory',
      'cpus',
      'allow',
      'workdir',
      'host',
      'git',
    );
    const value = fc.jsonValue({ maxDepth: 4 }).filter((json) => !JSON.stringify(json).includes('null'));
    fc.assert(
      fc.property(fc.dictionary(key, fc.oneof(value, fc.dictionary(below, value))), (document) => {
        let text: string;
        try {
          text = stringify(document);
        } catch {
          return; // TOML cannot say it
        }
        try {
          parseConfig(text, PLACE);
        } catch (error) {
          expect(isLitterboxError(error) && error.message).toMatch(/^\.litterbox\.toml:\d+:\d+ |is not UTF-8|is NUL/);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('what was written is what is read', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/).filter((text) => !isReservedVariable(text.toUpperCase()));
    const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0') && value.isWellFormed());
    const argument = fc
      .tuple(fc.stringMatching(/^[a-z/]{1,10}$/), fc.array(text, { maxLength: 3 }))
      .map(([program, rest]) => [program, ...rest]);
    const document = fc.record({
      provider: fc.constantFrom('docker', 'overlayfs'),
      container: fc.record({
        'install-command': fc.array(argument, { minLength: 1, maxLength: 3 }),
        'setup-command': fc.array(argument, { minLength: 1, maxLength: 3 }),
        env: fc
          .dictionary(fc.stringMatching(/^[A-Z]{1,3}_X$/), text)
          .filter((table) => !Object.keys(table).some(isReservedVariable)),
        ports: fc.dictionary(name, fc.constant({})),
      }),
      limits: fc.record({ cpus: fc.integer({ min: 1, max: 64 }), processes: fc.integer({ min: 16, max: 9999 }) }),
    });
    fc.assert(
      fc.property(document, (wanted) => {
        const { config, warnings } = parseConfig(stringify(wanted), PLACE);
        expect(warnings).toEqual([]);
        expect(config.provider).toBe(wanted.provider);
        expect(config.container.install).toEqual(wanted.container['install-command']);
        expect(config.container.setup).toEqual(wanted.container['setup-command']);
        expect(config.container.environment).toEqual(wanted.container.env);
        expect(config.container.ports).toEqual(wanted.container.ports);
        expect(config.limits).toMatchObject(wanted.limits);
      }),
      { numRuns: 200 },
    );
  });
});
