import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { isLitterboxError, LitterboxError } from '@litterbox/core';
import type { NetworkGateOptions } from '@litterbox/network-gate';
import type { Litterbox, LitterboxOptions, Sandbox } from '../src/index.ts';
import { ASK, hello, type Outside, outside } from './outside.ts';
import { PROVIDER, provider } from './provider.ts';
import { LibraryFixture } from './library-fixture.ts';

const NAMES = ['registry.example.org', 'other.example.org'] as const;

/** Listens where the proxy is to listen, until it is told to end. */
const TAKE = `if command -v perl >/dev/null; then
perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:3128", Listen => 5, ReuseAddr => 1) or die; $s->blocking(0); open F, ">/playground/has"; close F; until (-e "/playground/end") { $s->accept; select(undef, undef, undef, 0.05) }'
else
nc -l -p 3128 -e true & : >/playground/has; until [ -e /playground/end ]; do sleep 0.1; done; kill $!
fi
`;

interface NetworkFixture extends LibraryFixture {
  readonly world: Outside;
  /** A trusted configuration, and a way out that ends at {@link Outside}. */
  connected(options?: Partial<LitterboxOptions>): Promise<Litterbox>;
}

async function networkFixture(
  config: string,
  more: Readonly<Record<string, string>> = {},
  limits: Partial<NetworkGateOptions> = {},
  answers = '',
  address?: string,
): Promise<NetworkFixture> {
  const files = await Promise.all(NAMES.map(async (name) => [`hello-${name}`, await hello(name)] as const));
  const fixture = new LibraryFixture({
    'ask.sh': ASK,
    '.litterbox.toml': withPerl(config),
    ...Object.fromEntries(files),
    ...more,
  });
  const world = fixture.use(await outside(limits, answers, address));
  return Object.assign(fixture, {
    world,
    async connected(options?: Partial<LitterboxOptions>) {
      const litterbox = fixture.open({ ...options, parts: { networkGate: world.networkGate, ...options?.parts } });
      await litterbox.trust((await litterbox.trustStatus()).contentHash);
      return litterbox;
    },
  });
}

/** Into a pod bytes are carried by programs in Perl, which the smallest image does not have. */
function withPerl(config: string): string {
  if (PROVIDER !== 'kubernetes') return config;
  const table = '[container]\n';
  const ours = `${table}base-image = "debian:bookworm"\n`;
  return config.includes(table) ? config.replace(table, ours) : `${config}${ours}`;
}

const allow = (phase: 'setup' | 'run', ...rules: readonly string[]) =>
  `[network]\n${phase} = "allow-list"\nallow = ${JSON.stringify(rules)}\n`;
const setup = (command: string) => `[container]\nsetup-command = ${JSON.stringify(command)}\n`;

const fileOf = async (sandbox: Sandbox, path: string) => Buffer.from(await sandbox.files.read(path)).toString();

/** The error that it rejects with. */
async function refusal(doing: Promise<unknown>): Promise<LitterboxError> {
  const error = await doing.then(
    () => new Error('nothing was refused'),
    (reason: unknown) => reason,
  );
  if (isLitterboxError(error)) return error;
  throw error;
}

describe(`the network of the setup, on ${PROVIDER}`, () => {
  it('reaches what is allowed while the setup runs, by the variables that programs know, and nothing after it', async () => {
    await using fixture = await networkFixture(
      setup('echo $HTTPS_PROXY $https_proxy $http_proxy $NO_PROXY >vars; sh ask.sh registry.example.org >vendor.txt') +
        allow('setup', 'registry.example.org'),
    );
    const litterbox = await fixture.connected();
    const sandbox = await litterbox.create({ name: 'one' });
    expect(await fileOf(sandbox, 'vendor.txt')).toMatch(/200 Connection established\r\n\r\nhello from outside\n$/);
    const proxy = 'http://127.0.0.1:3128';
    expect(await fileOf(sandbox, 'vars')).toBe(
      `${proxy} ${proxy} ${proxy} localhost,.localhost,sandbox,127.0.0.1,127.0.0.0/8,0.0.0.0,::1\n`,
    );
    const after = await sandbox.run('sh ask.sh registry.example.org; echo "[$HTTPS_PROXY$https_proxy$http_proxy]"');
    expect(after.stdout).toBe('[]\n');
    expect(fixture.world.looked).toEqual(['registry.example.org']);
    const told = (await litterbox.audit({})).filter(({ operation }) => operation.startsWith('network-'));
    expect(told.map(({ operation, actor, input, outcome }) => ({ operation, actor, input, outcome }))).toEqual([
      {
        operation: 'network-closed',
        actor: 'sandbox',
        input: { host: 'registry.example.org', port: 443, sentBytes: expect.any(Number), receivedBytes: 19 },
        outcome: 'ok',
      },
      {
        operation: 'network-opened',
        actor: 'sandbox',
        input: { host: 'registry.example.org', port: 443, rule: 'registry.example.org', address: '1.1.1.1' },
        outcome: 'ok',
      },
    ]);
  });

  it('a setup that misses something prints the lines that allow it', async () => {
    await using fixture = await networkFixture(
      setup('sh ask.sh registry.example.org; sh ask.sh other.example.org; exit 3') +
        allow('setup', 'registry.example.org'),
    );
    const { code, message, details } = await refusal((await fixture.connected()).create({ name: 'one' }));
    expect(code).toBe('SETUP_FAILED');
    expect(message).toContain('other.example.org:443 is not on the list');
    expect(details.hint).toContain(
      '[network]\nsetup = "allow-list"\nallow = ["registry.example.org", "other.example.org"]\n',
    );
    expect(fixture.world.looked).toEqual(['registry.example.org']); // names are not asked for before a rule allows them
  });

  it('tells what is refused as it happens, once a host, and a setup that asks without an end is ended', async () => {
    await using fixture = await networkFixture(
      setup('sh ask.sh other.example.org; while :; do sh ask.sh registry.example.org >/dev/null; done') +
        allow('setup', 'registry.example.org', 'other.example.org'),
      {},
      {},
      '',
      '10.9.9.9',
    );
    const told: string[] = [];
    const litterbox = await fixture.connected();
    const { code, message, details } = await refusal(
      litterbox.create(
        { name: 'one' },
        { onProgress: ({ step, message: text }) => step === 'network' && told.push(text) },
      ),
    );
    const refused = (host: string) => `the name ${host} leads to an address that is not on the Internet`;
    expect(told).toEqual(['other.example.org', 'registry.example.org'].map((host) => `Refused: ${refused(host)}`));
    expect(code).toBe('SETUP_FAILED');
    expect(message).toContain('kept asking for registry.example.org');
    expect(details.hint).toContain(refused('other.example.org').slice(1));
    expect(details.hint).toContain('allow-private = ["other.example.org", "registry.example.org"]');
  });

  it('a host of a private network is reached where a person named it, and the audit says so', async () => {
    await using fixture = await networkFixture(
      `${setup('sh ask.sh registry.example.org >vendor.txt')}[network]\nsetup = "allow-list"\nallow-private = ["registry.example.org"]\n`,
      {},
      {},
      '',
      '10.9.9.9',
    );
    const untrusted = await refusal(fixture.open().create({ name: 'untrusted' }));
    expect(untrusted.code).toBe('CONFIG_UNTRUSTED');
    expect(untrusted.message).toContain('network.allow-private = ["registry.example.org"]');
    const litterbox = await fixture.connected();
    const sandbox = await litterbox.create({ name: 'one' });
    expect(await fileOf(sandbox, 'vendor.txt')).toContain('hello from outside');
    expect((await litterbox.audit({})).find(({ operation }) => operation === 'network-opened')?.input).toMatchObject({
      host: 'registry.example.org',
      address: '10.9.9.9',
      isPrivate: true,
    });
  });

  it('without a network it prints them for the names that programs complain of', async () => {
    await using fixture = await networkFixture(
      setup('echo "curl: (6) Could not resolve host: other.example.org" >&2; exit 6'),
    );
    const { details } = await refusal((await fixture.connected()).create({ name: 'one' }));
    expect(details.hint).toContain('[network]\nsetup = "allow-list"\nallow = ["other.example.org"]\n');
  });

  it('what a setup left under other rules is not taken', async () => {
    const config = (...rules: readonly string[]) =>
      setup('sh ask.sh other.example.org >vendor.txt') + allow('setup', ...rules);
    await using fixture = await networkFixture(config('registry.example.org'));
    const litterbox = await fixture.connected();
    expect(await fileOf(await litterbox.create({ name: 'one' }), 'vendor.txt')).toMatch(/^HTTP\/1.1 403 /);
    fixture.file('.litterbox.toml', withPerl(config('registry.example.org', 'other.example.org')));
    await litterbox.trust((await litterbox.trustStatus()).contentHash);
    expect(await fileOf(await litterbox.create({ name: 'two' }), 'vendor.txt')).toMatch(/hello from outside\n$/);
  });
});

describe(`the network of commands, on ${PROVIDER}`, () => {
  it('reaches what is allowed and nothing else, each sandbox its own, and comes back after whatever ended it', async () => {
    await using fixture = await networkFixture(
      allow('run', '*.example.org').replace(/$/, 'deny = ["other.example.org"]\n'),
    );
    const litterbox = await fixture.connected();
    const sandbox = await litterbox.create({ name: 'one' });
    const asked = async (name: string, by = sandbox) => (await by.run(`sh ask.sh ${name}`)).stdout;
    expect(await asked('registry.example.org')).toMatch(/hello from outside\n$/);
    expect(await asked('other.example.org')).toContain('other.example.org is denied by the rule other.example.org');
    // The name in TLS has to be the one that was asked for.
    expect((await sandbox.run('sh ask.sh registry.example.org other.example.org')).stdout).not.toContain('hello');
    fixture.file('.litterbox.toml', '');
    const closed = await litterbox.create({ name: 'closed' });
    expect(await asked('registry.example.org', closed)).toBe('');
    await sandbox.run('kill -9 -1').catch(() => undefined); // ends the sandbox's programs, and where there is one its session
    const again = () =>
      eventually(
        async () => await asked('registry.example.org'),
        (said) => said.includes('hello'),
      );
    expect(await again()).toMatch(/hello from outside\n$/);
    if (PROVIDER !== 'kubernetes') {
      await litterbox.setRunState('one', 'paused');
      await litterbox.setRunState('one', 'ready');
      expect(await asked('registry.example.org')).toMatch(/hello from outside\n$/);
    }
    await litterbox.setRunState('one', 'stopped');
    await litterbox.setRunState('one', 'ready');
    expect(await again()).toMatch(/hello from outside\n$/);
    expect(await asked('registry.example.org', closed)).toBe('');
  });

  it('ends with the program that keeps it, and another one opens it again', async () => {
    await using fixture = await networkFixture(allow('run', 'registry.example.org'));
    const first = await fixture.connected();
    await first.create({ name: 'one' });
    const second = await fixture.connected();
    const sandbox = await second.open('one');
    expect((await sandbox.run('sh ask.sh registry.example.org')).stdout).toMatch(/hello from outside\n$/);
    await first[Symbol.asyncDispose]();
    expect((await sandbox.run('sh ask.sh registry.example.org')).stdout).toMatch(/hello from outside\n$/);
  });

  it('what cannot be written down is not let through, the second time as the first, and again when it can be', async () => {
    await using fixture = await networkFixture(allow('run', 'registry.example.org'));
    const plain = await fixture.connected();
    await plain.create({ name: 'zero' }); // makes the state
    const { sqliteState } = await import('@litterbox/state-sqlite');
    const store = sqliteState({ directory: fixture.stateDirectory });
    let isFull = false;
    const audit = {
      ...store.audit,
      entries: store.audit.entries.bind(store.audit),
      verify: store.audit.verify.bind(store.audit),
      start: async (...[entry, call]: Parameters<typeof store.audit.start>) => {
        if (isFull && entry.operation.startsWith('network-'))
          throw new LitterboxError('AUDIT_UNAVAILABLE', 'The disk is full.', { operation: 'audit.start' });
        return await store.audit.start(entry, call);
      },
    };
    const litterbox = await fixture.connected({ parts: { state: store.state, audit } });
    const sandbox = await litterbox.create({ name: 'one' });
    const asked = async () => (await sandbox.run('sh ask.sh registry.example.org')).stdout;
    expect(await asked()).toMatch(/hello from outside\n$/); // positive control
    isFull = true;
    for (let count = 0; count < 4; count += 1) expect(await asked()).not.toContain('hello');
    expect(await asked()).toContain('cannot be written down');
    isFull = false;
    await eventually(asked, (said) => said.includes('hello'));
  });

  it('AX28: what was sent and looked up counts for the repository, whoever ended the session', async () => {
    const limits = { maxSentBytes: 100_000, maxWildcardNames: 1 };
    await using fixture = await networkFixture(allow('run', '*.example.org'), {}, limits, 'more? ');
    const litterbox = await fixture.connected();
    const one = await litterbox.create({ name: 'one' });
    const asked = async (name: string, by = one) => (await by.run(`sh ask.sh ${name}`)).stdout;
    const sent = async (bytes: number) => {
      const asking = `{ printf 'CONNECT %s:443 HTTP/1.1\\r\\n\\r\\n' registry.example.org; base64 -d hello-registry.example.org; head -c ${bytes} /dev/zero; } >/tmp/asked`;
      return (await one.run(`${asking}; ${ASK.slice(ASK.indexOf('\n') + 1)}`, { timeoutMs: 20_000 })).stdout;
    };
    expect(await sent(30_000)).toMatch(/more\? hello from outside\n$/); // positive control
    // What was taken in advance of the budget is lost with the session: never is there more than before.
    for (const end of ['kill -9 -1', 'kill -9 1; kill -TERM 1']) {
      await one.run(end).catch(() => undefined);
      await eventually(
        async () => await asked('registry.example.org'),
        (said) => said.includes('hello'),
      );
      expect(await asked('other.example.org')).toContain('too many names within an hour');
    }
    expect(await sent(70_000)).not.toContain('hello'); // more than there is in all
    const two = await litterbox.create({ name: 'two' });
    expect(await asked('other.example.org', two)).toContain('too many names within an hour');
    expect(fixture.world.looked).not.toContain('other.example.org');
  });
});

describe(`the network as a caller wants it, on ${PROVIDER}`, () => {
  it('is that of the options, over what the file says, with rules in their normal form', async () => {
    await using fixture = await networkFixture('');
    const sandbox = await (await fixture.connected()).create({
      name: 'one',
      network: 'both',
      allow: ['REGISTRY.example.org.', '*.vendor.example.org'],
      deny: ['evil.vendor.example.org'],
      setup: 'sh ask.sh registry.example.org >vendor.txt',
    });
    expect(await fileOf(sandbox, 'vendor.txt')).toMatch(/hello from outside\n$/);
    expect((await sandbox.run('sh ask.sh registry.example.org')).stdout).toMatch(/hello from outside\n$/);
    expect(sandbox.created.record.policy.network).toEqual({
      setup: 'allow-list',
      run: 'allow-list',
      allow: ['registry.example.org', '*.vendor.example.org'],
      deny: ['evil.vendor.example.org'],
    });
  });

  it.each(['10.0.0.1', 'https://x.example.org', '*.com', 'localhost', ''])('%j is no rule', async (rule) => {
    await using fixture = await networkFixture('', { '.litterbox.toml': '' });
    const error = await refusal(fixture.open().create({ name: 'one', network: 'run', allow: [rule] }));
    expect(error.code).toBe('NET_RULE_INVALID');
  });
});

describe(`what the network cannot be, on ${PROVIDER}`, () => {
  it.each([
    ['[network]\nallow = ["registry.example.org"]\n', 'CONFIG_VALUE', /network\.allow has rules/],
    ['[network]\ndeny = ["registry.example.org"]\n', 'CONFIG_VALUE', /network\.deny has rules/],
    [`[container.ports]\nweb = 3128\n${allow('run')}`, 'CONFIG_VALUE', /container\.ports\.web: .*3128/],
  ])('%j is refused', async (config, code, message) => {
    await using fixture = await networkFixture(config);
    const error = await refusal((await fixture.connected()).create({ name: 'one' }));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });

  it.each(['setup', 'run'] as const)(
    '%s on a provider that leads nowhere is refused, and leaves nothing',
    async (phase) => {
      await using fixture = await networkFixture(setup('true') + allow(phase, 'registry.example.org'));
      const litterbox = await fixture.connected({
        providers: [
          (machine) => {
            const made = provider(machine);
            const create: typeof made.create = async (spec, options) =>
              Object.defineProperty(await made.create(spec, options), 'listen', { value: undefined });
            return new Proxy(made, {
              get: (target, key) => {
                if (key === 'create') return create;
                const value: unknown = Reflect.get(target, key);
                return typeof value === 'function' ? value.bind(target) : value;
              },
            });
          },
        ],
      });
      const error = await refusal(litterbox.create({ name: 'one' }));
      expect(error.code).toBe('UNSUPPORTED');
      expect(error.message).toContain(`network.${phase}`);
      expect(await litterbox.list()).toEqual([]);
    },
  );

  it('a program inside that has the number of the proxy has no network, nor has any other until it ends', async () => {
    await using fixture = await networkFixture(
      `${setup('sh take.sh >/dev/null 2>&1 & until [ -e /playground/has ]; do sleep 0.1; done')}${allow('run', 'registry.example.org')}`,
      { 'take.sh': TAKE },
    );
    const sandbox = await (await fixture.connected()).create({ name: 'one', freshSetup: true });
    expect(sandbox.created.warnings).toEqual([
      'The network is not open: A program in the sandbox listens on port 3128.',
    ]);
    const asked = async () => (await sandbox.run('sh ask.sh registry.example.org')).stdout;
    expect(await asked()).not.toContain('hello');
    await sandbox.run(': >/playground/end');
    await eventually(asked, (said) => said.includes('hello'));
  });
});
