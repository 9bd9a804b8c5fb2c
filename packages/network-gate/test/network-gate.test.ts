import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { allOf, gateFixture } from './gate-fixture.ts';

const LISTED = { allow: ['example.org', '*.example.net'], deny: ['secret.example.net'] };

/** Resolves when it holds. No clock: what is waited for comes, or the test's own limit does. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

describe('what is listed', () => {
  it('is reached, both ways, each ending by itself', async () => {
    await using fixture = await gateFixture(LISTED, {
      serve: (socket) => {
        socket.once('end', () => socket.end('the end of what was sent was seen'));
        socket.on('data', (bytes) => socket.write(bytes));
      },
    });
    const secure = await fixture.secure('example.org');
    secure.write('hello');
    const [echo] = (await once(secure, 'data')) as [Buffer];
    expect(echo.toString()).toBe('hello');
    secure.end();
    expect(await allOf(secure)).toBe('the end of what was sent was seen');
    await until(() => fixture.reports.length === 2);
    expect(fixture.reports).toEqual([
      { type: 'opened', host: 'example.org', port: 443, rule: 'example.org', address: '1.1.1.1' },
      {
        type: 'closed',
        host: 'example.org',
        port: 443,
        sentBytes: expect.any(Number),
        receivedBytes: expect.any(Number),
      },
    ]);
    expect({ looked: fixture.looked, dialled: fixture.dialled }).toEqual({
      looked: ['example.org'],
      dialled: ['1.1.1.1'],
    });
  });

  it('is carried whole, however much it is, and no faster than it is read', async () => {
    const size = 20 * 2 ** 20;
    let written = 0;
    await using fixture = await gateFixture(LISTED, {
      serve: (socket) => {
        const block = Buffer.alloc(2 ** 16, 1);
        const more = () => {
          while (written < size) {
            written += block.length;
            if (!socket.write(block)) return void socket.once('drain', more);
          }
          socket.end();
        };
        more();
      },
    });
    const secure = await fixture.secure('www.example.net');
    secure.pause();
    let before = -1;
    // Nobody reads: what the server could write stops growing, far below the whole.
    while (before !== written) {
      before = written;
      for (let turn = 0; turn < 2_000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(written).toBeLessThan(size);
    expect((await allOf(secure)).length).toBe(size);
  });

  it('may be sent what was bounded, and no more until the hour is over', async () => {
    await using fixture = await gateFixture(LISTED, { maxSentBytes: 100_000 });
    const secure = await fixture.secure('example.org');
    secure.write(Buffer.alloc(200_000));
    await allOf(secure).catch(() => {});
    await until(() => fixture.reports.length === 2);
    expect(fixture.reports[1]).toMatchObject({ type: 'closed', reason: expect.stringContaining('within an hour') });
    const again = await fixture.secure('example.org');
    again.end(Buffer.alloc(99_000));
    expect((await allOf(again).catch(() => '')).length).toBeLessThan(99_000);
    fixture.clock.advance(3_600_000);
    const later = await fixture.secure('example.org');
    later.end(Buffer.alloc(50_000));
    expect((await allOf(later)).length).toBe(50_000);
  });
});

describe('what is not listed', () => {
  it.each([
    ['other.org:443', 403, 'allow = ["other.org"]'],
    ['example.org:8443', 403, 'allow = ["example.org:8443"]'],
    ['example.net:443', 403, 'allow = ["example.net"]'],
    ['evil-example.org:443', 403, 'allow = ["evil-example.org"]'],
    ['secret.example.net:443', 403, 'denied by the rule secret.example.net'],
  ])('%s is refused, by nobody but us, with what to do', async (target, status, text) => {
    await using fixture = await gateFixture(LISTED);
    const answer = await fixture.ask(`CONNECT ${target} HTTP/1.1\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain(text);
    expect({ looked: fixture.looked, dialled: fixture.dialled }).toEqual({ looked: [], dialled: [] });
    expect(fixture.reports).toEqual([expect.objectContaining({ type: 'refused', host: target.split(':')[0] })]);
  });

  it('is refused where the list is empty', async () => {
    await using fixture = await gateFixture({});
    expect(await fixture.ask('CONNECT example.org:443 HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    expect(fixture.looked).toEqual([]);
  });

  it.each([
    ['GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n', 405],
    ['CONNECT evil.test\u0000.example.org:443 HTTP/1.1\r\n\r\n', 400],
    ['CONNECT example.org:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n', 400],
    ['\u0005\u0001\u0000', 400],
    ['\u0004\u0001\u0001\u00bb\u0001\u0001\u0001\u0001\u0000', 400],
    [Buffer.from([22, 3, 1, 0, 5, 1, 0, 0, 1, 0]), 400],
    [`CONNECT example.org:443 HTTP/1.1\r\nX: ${'x'.repeat(9000)}`, 400],
  ])('another protocol, or none: %j', async (bytes, status) => {
    await using fixture = await gateFixture(LISTED);
    expect(await fixture.ask(bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect({ looked: fixture.looked, dialled: fixture.dialled }).toEqual({ looked: [], dialled: [] });
  });
});

describe('a name of a private network', () => {
  const OWN = { allow: ['*.example.net'], allowPrivate: ['registry.example.net', 'other.example.org:8443'] };
  const reach = { ownAddresses: () => ['10.1.2.3', 'fd99::3'], ownNetworks: () => ['10.1.2.3/8', '169.254.1.1/16'] };
  const answered = async (host: string, addresses: readonly string[], policy: object = OWN) => {
    await using fixture = await gateFixture(policy, { addresses: async () => addresses, reach });
    const socket = await fixture.open();
    socket.write(`CONNECT ${host} HTTP/1.1\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return { status: answer.toString('latin1', 9, 12), dialled: [...fixture.dialled], reports: [...fixture.reports] };
  };

  it('is reached where it was named, and the books say where', async () => {
    await using fixture = await gateFixture(OWN, { addresses: async () => ['10.9.9.9'], reach });
    (await fixture.secure('registry.example.net')).end();
    await until(() => fixture.reports.length > 0);
    expect(fixture.reports[0]).toEqual({
      type: 'opened',
      host: 'registry.example.net',
      port: 443,
      rule: 'registry.example.net',
      address: '10.9.9.9',
      isPrivate: true,
    });
  });

  it.each(['172.16.0.9', '192.168.1.9', '100.64.0.9', 'fd99::9'])('may have the address %s', async (address) => {
    expect((await answered('registry.example.net:443', [address, '1.1.1.1'])).dialled).toEqual([address]);
  });

  it.each([
    ['metadata of clouds', ['169.254.169.254']],
    ['metadata of one cloud', ['100.100.100.200']],
    ['metadata by IPv6', ['fd00:ec2::254']],
    ['Azure', ['168.63.129.16']],
    ['loopback', ['127.0.0.1']],
    ['loopback by IPv6', ['::1']],
    ['this machine', ['10.1.2.3']],
    ['this machine by IPv6', ['fd99::3']],
    ['this machine within another address', ['::ffff:10.1.2.3']],
    ['a private address within another one', ['64:ff9b::a09:909']],
    ['a link', ['fe80::9']],
    ['nothing', ['0.0.0.0']],
    ['a neighbour and metadata', ['10.9.9.9', '169.254.169.254']],
    ['many', Array.from({ length: 65 }, (_, index) => `10.9.9.${index + 1}`)],
  ])('is not reached at %s', async (_what, addresses) => {
    const { status, dialled, reports } = await answered('registry.example.net:443', addresses);
    expect({ status, dialled }).toEqual({ status: '403', dialled: [] });
    expect(reports).toEqual([
      expect.objectContaining({ type: 'refused', reason: expect.stringContaining('this machine') }),
    ]);
  });

  it.each([
    ['below a star', 'www.example.net:443', OWN],
    ['on another port', 'other.example.org:443', OWN],
    ['that is denied', 'registry.example.net:443', { ...OWN, deny: ['registry.example.net'] }],
    ['by a star of private networks', 'www.example.org:443', { allowPrivate: ['*.example.org'] }],
  ])('is not reached %s', async (_what, host, policy) => {
    expect(await answered(host, ['10.9.9.9'], policy)).toMatchObject({ status: '403', dialled: [] });
  });

  it('that was allowed as one of the Internet is told apart', async () => {
    expect((await answered('www.example.net:443', ['10.9.9.9'])).reports).toEqual([
      expect.objectContaining({ type: 'refused', isPrivate: true }),
    ]);
    expect((await answered('www.example.net:443', ['169.254.169.254'])).reports[0]).not.toHaveProperty('isPrivate');
  });
});

describe('a name that is listed', () => {
  it.each([
    ['leads into the machine', ['127.0.0.1']],
    ['leads into its network', ['192.168.1.1']],
    ['leads to a service of the cloud', ['169.254.169.254']],
    ['leads to the Internet and into the machine', ['1.1.1.1', '10.0.0.1']],
    ['leads to an address within an address', ['::ffff:1.1.1.1']],
    ['leads to more addresses than a host has', Array.from({ length: 65 }, (_, index) => `1.1.1.${index + 1}`)],
  ])('and %s is not dialled', async (_what, addresses) => {
    await using fixture = await gateFixture(LISTED, { addresses: async () => addresses });
    const answer = await fixture.ask('CONNECT example.org:443 HTTP/1.1\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 403 .*not on the Internet/);
    expect(fixture.dialled).toEqual([]);
  });

  it.each([
    ["this machine's own public address", '1.1.1.1/32', '1.1.1.1'],
    ['a neighbour with a public address', '9.9.9.2/24', '9.9.9.77'],
    ['a neighbour with a global address of IPv6', '2a02:8108:1:2:aaaa::1/64', '2a02:8108:1:2::99'],
    ['a neighbour behind the translation of addresses', '9.9.9.2/24', '64:ff9b::9.9.9.77'],
  ])('AX30: and leads to %s is not dialled', async (_what, network, address) => {
    const reach = { ownNetworks: () => [network] };
    {
      // Positive control: elsewhere it is a host like any other.
      await using fixture = await gateFixture(LISTED, {
        reach: { ownNetworks: () => [] },
        addresses: async () => [address],
      });
      (await fixture.secure('example.org')).destroy();
      expect(fixture.dialled).toEqual([address]);
    }
    await using fixture = await gateFixture(LISTED, { reach, addresses: async () => ['1.0.0.1', address] });
    expect(await fixture.ask('CONNECT example.org:443 HTTP/1.1\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 403 .*not on the Internet/,
    );
    expect(fixture.dialled).toEqual([]);
  });

  it('and leads nowhere, or answers too late, is told so', async () => {
    await using fixture = await gateFixture(LISTED, {
      addresses: async (host) => {
        if (host === 'example.org') throw new Error('ENOTFOUND');
        return await new Promise(() => {});
      },
    });
    expect(await fixture.ask('CONNECT example.org:443 HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 502 .*not found/);
    const asking = fixture.ask('CONNECT www.example.net:443 HTTP/1.1\r\n\r\n');
    await until(() => fixture.looked.length === 2);
    fixture.clock.advance(5_000);
    expect(await asking).toMatch(/^HTTP\/1\.1 502 .*not found/);
  });

  it('is looked up once, and what is dialled is the address', async () => {
    let times = 0;
    await using fixture = await gateFixture(LISTED, {
      addresses: async () => (++times === 1 ? ['1.1.1.1'] : ['127.0.0.1']),
    });
    (await fixture.secure('example.org')).destroy();
    expect({ looked: fixture.looked, dialled: fixture.dialled }).toEqual({
      looked: ['example.org'],
      dialled: ['1.1.1.1'],
    });
  });

  it('below a star counts, and only so many within an hour', async () => {
    await using fixture = await gateFixture(LISTED, { maxWildcardNames: 3 });
    const statusOf = async (host: string) => {
      const socket = await fixture.open();
      socket.write(`CONNECT ${host}:443 HTTP/1.1\r\n\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return answer.toString('latin1', 9, 12);
    };
    for (const name of ['a', 'b', 'c', 'a'])
      expect({ name, statusOf: await statusOf(`${name}.example.net`) }).toEqual({ name, statusOf: '200' });
    expect(await statusOf('d.example.net')).toBe('429');
    expect(fixture.looked).toEqual(['a', 'b', 'c', 'a'].map((name) => `${name}.example.net`));
    expect(await statusOf('example.org')).toBe('200');
    fixture.clock.advance(3_600_000);
    expect(await statusOf('d.example.net')).toBe('200');
  });
});

describe('after the way is open', () => {
  it.each([
    ['another server', 'evil.test'],
    ['a name below', 'www.example.org'],
  ])('a hello that names %s goes nowhere', async (_what, servername) => {
    let arrived = false;
    await using fixture = await gateFixture(LISTED, { serve: () => (arrived = true) });
    await expect(fixture.secure('example.org', servername)).rejects.toThrow();
    expect(fixture.reports).toEqual([
      expect.objectContaining({ type: 'refused', reason: expect.stringContaining('another server') }),
    ]);
    expect(arrived).toBe(false);
  });

  it('what is no TLS goes nowhere', async () => {
    await using fixture = await gateFixture(LISTED);
    const socket = await fixture.open();
    socket.write('CONNECT example.org:443 HTTP/1.1\r\n\r\n');
    await once(socket, 'data');
    socket.write('GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n');
    expect(await allOf(socket)).toBe('');
    expect(fixture.reports).toEqual([expect.objectContaining({ reason: expect.stringContaining('no TLS') })]);
  });

  it('a hello that was sent along with the request is understood', async () => {
    await using fixture = await gateFixture(LISTED);
    const { clientHelloOf } = await import('./client-hello-of.ts');
    const hello = await clientHelloOf({ servername: 'example.org' });
    const socket = await fixture.open();
    socket.write(Buffer.concat([Buffer.from('CONNECT example.org:443 HTTP/1.1\r\n\r\n'), hello]));
    await until(() => fixture.reports.length === 1);
    expect(fixture.reports[0]).toMatchObject({ type: 'opened' });
    socket.destroy();
  });
});

describe('who takes their time', () => {
  it.each([
    ['with the request', 'CONNECT exam'],
    ['with the hello', 'CONNECT example.org:443 HTTP/1.1\r\n\r\n\u0016'],
  ])('%s is cut off after five seconds', async (_what, bytes) => {
    await using fixture = await gateFixture(LISTED);
    const socket = await fixture.open();
    for (const byte of Buffer.from(bytes, 'latin1')) socket.write(Buffer.of(byte));
    if (bytes.includes('\r\n\r\n')) await once(socket, 'data');
    const ending = allOf(socket);
    await until(() => fixture.clock.sleepers === 1);
    fixture.clock.advance(5_000);
    expect(await ending).toBe('');
  });

  it('is one of so many, and the next one is told', async () => {
    await using fixture = await gateFixture(LISTED, { maxConnections: 2, maxRequestsPerSecond: Infinity });
    const waiting = [await fixture.open(), await fixture.open()];
    await until(() => fixture.clock.sleepers === 2);
    expect(await fixture.ask('CONNECT example.org:443 HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 503 /);
    waiting[0]?.destroy();
    await until(() => fixture.clock.sleepers === 1);
    (await fixture.secure('example.org')).destroy();
  });
});

it('ends all connections when it is closed, and lets nothing in any more', async () => {
  await using fixture = await gateFixture(LISTED);
  const secure = await fixture.secure('example.org');
  const waiting = await fixture.open();
  await until(() => fixture.clock.sleepers === 1);
  await fixture.closeGate();
  await allOf(secure).catch(() => {});
  await allOf(waiting).catch(() => {});
  expect(fixture.reports.at(-1)).toMatchObject({ type: 'closed', reason: expect.stringContaining('stopped') });
  expect(await fixture.ask('CONNECT example.org:443 HTTP/1.1\r\n\r\n').catch(() => '')).toBe('');
});

it('tells of so many refusals a minute, and then how many there were', async () => {
  await using fixture = await gateFixture(LISTED, { maxRequestsPerSecond: Infinity });
  for (let index = 0; index < 130; index += 1) await fixture.ask('CONNECT other.org:443 HTTP/1.1\r\n\r\n');
  expect(fixture.reports.length).toBe(120);
  fixture.clock.advance(60_000);
  await fixture.ask('CONNECT other.org:443 HTTP/1.1\r\n\r\n');
  expect(fixture.reports.slice(120)).toEqual([
    { type: 'left-out', count: 10 },
    expect.objectContaining({ type: 'refused' }),
  ]);
});
