import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { RepositoryId, type GateReport, type Spending } from '@litterbox/core/provider';
import { StateShelf } from '@litterbox/memory';
import { allOf, type GateFixture, gateFixture } from './gate-fixture.ts';

const LISTED = { allow: ['example.org', '*.example.net'] };
const ASKED = 'CONNECT example.org:443 HTTP/1.1\r\n\r\n';
const isOpened = (what: GateReport | Spending) => 'type' in what && what.type === 'opened';
const full = async (): Promise<void> => {
  throw new Error('No space left on device');
};

/** Resolves when it holds. No clock: what is waited for comes, or the test's own limit does. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

async function statusOf(fixture: GateFixture, host: string): Promise<string> {
  const socket = await fixture.open();
  socket.write(`CONNECT ${host}:443 HTTP/1.1\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString('latin1', 9, 12);
}

describe('what is let through', () => {
  it('is written down before a byte of it is carried', async () => {
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    let isAsked = false;
    let hasArrived = false;
    await using fixture = await gateFixture(LISTED, {
      serve: (socket) => {
        hasArrived = true;
        socket.end('served');
      },
      write: async (what) => {
        if (!isOpened(what)) return;
        isAsked = true;
        await written;
      },
    });
    const secure = fixture.secure('example.org');
    await until(() => isAsked);
    expect({ hasArrived, dialled: fixture.dialled }).toEqual({ hasArrived: false, dialled: ['1.1.1.1'] });
    write();
    expect(await allOf(await secure)).toBe('served');
  });

  it('is nothing when that cannot be written', async () => {
    let hasArrived = false;
    await using fixture = await gateFixture(LISTED, {
      serve: () => (hasArrived = true),
      write: async (what) => {
        if (isOpened(what)) await full();
      },
    });
    await expect(fixture.secure('example.org')).rejects.toThrow();
    expect({ hasArrived, reports: fixture.reports }).toEqual({ hasArrived: false, reports: [] });
  });

  it('is nothing when nobody can count, and then no name is looked up', async () => {
    await using fixture = await gateFixture(LISTED, { write: full });
    const answer = await fixture.ask(ASKED);
    expect(answer).toMatch(/^HTTP\/1\.1 503 .*cannot be written down/);
    expect({ looked: fixture.looked, dialled: fixture.dialled, reports: fixture.reports }).toEqual({
      looked: [],
      dialled: [],
      reports: [],
    });
  });

  it('ends when nobody can count any more', async () => {
    let isFull = false;
    await using fixture = await gateFixture(LISTED, {
      write: async (what) => {
        if (isFull && 'amount' in what) await full();
      },
    });
    const secure = await fixture.secure('example.org');
    isFull = true;
    secure.write(Buffer.alloc(100_000));
    await allOf(secure).catch(() => {});
    await until(() => fixture.reports.length === 2);
    expect(fixture.reports[1]).toMatchObject({
      type: 'closed',
      reason: expect.stringContaining('cannot be written down'),
    });
    expect(fixture.reports[1]).toMatchObject({ sentBytes: expect.any(Number) });
  });

  it('is never left out, nor is what a rule allowed and something else refused', async () => {
    await using fixture = await gateFixture(LISTED, {
      maxRequestsPerSecond: Infinity,
      addresses: async (host) => [host === 'example.org' ? '1.1.1.1' : '10.0.0.1'],
    });
    for (let index = 0; index < 130; index += 1) await fixture.ask('GET / HTTP/1.1\r\n\r\n');
    (await fixture.secure('example.org')).destroy();
    expect(await statusOf(fixture, 'a.example.net')).toBe('403');
    await until(() => fixture.reports.length === 123);
    expect(
      fixture.reports
        .slice(120)
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(['closed', 'opened', 'refused']);
    await fixture.closeGate();
    expect(fixture.reports.at(-1)).toEqual({ type: 'left-out', count: 10 });
  });
});

describe('who asks too often', () => {
  it('is told so, and no name is looked up', async () => {
    await using fixture = await gateFixture(LISTED, { maxConnectionsPerMinute: 2 });
    expect({
      firstStatusOf: await statusOf(fixture, 'example.org'),
      secondStatusOf: await statusOf(fixture, 'a.example.net'),
    }).toEqual({ firstStatusOf: '200', secondStatusOf: '200' });
    expect(await statusOf(fixture, 'example.org')).toBe('429');
    expect(fixture.looked).toEqual(['example.org', 'a.example.net']);
    fixture.clock.advance(60_000);
    expect(await statusOf(fixture, 'example.org')).toBe('200');
  });

  it('waits their turn', async () => {
    await using fixture = await gateFixture(LISTED, { maxConnections: 2, maxRequestsPerSecond: 20 });
    for (const _ of [1, 2]) expect(await statusOf(fixture, 'example.org')).toBe('200');
    const waiting = statusOf(fixture, 'example.org');
    await until(() => fixture.clock.sleepers === 1);
    expect(fixture.looked).toHaveLength(2);
    fixture.clock.advance(50);
    expect(await waiting).toBe('200');
  });
});

describe('a budget', () => {
  it('is that of the repository, whatever gate asks', async () => {
    const [shelf, repository] = [new StateShelf(), RepositoryId.make()];
    const limits = { maxSentBytes: 50_000, maxWildcardNames: 1, shelf, repository };
    const sent = async (fixture: GateFixture, size: number) => {
      const secure = await fixture.secure('example.org');
      secure.end(Buffer.alloc(size));
      return (await allOf(secure).catch(() => '')).length;
    };
    {
      await using fixture = await gateFixture(LISTED, limits);
      expect(await sent(fixture, 30_000)).toBe(30_000);
      expect(await statusOf(fixture, 'a.example.net')).toBe('200');
    }
    await using at = await gateFixture(LISTED, limits);
    expect(await sent(at, 30_000)).toBe(0);
    expect(await statusOf(at, 'b.example.net')).toBe('429');
    expect(await statusOf(at, 'a.example.net')).toBe('200');
    await using other = await gateFixture(LISTED, { ...limits, repository: RepositoryId.make() });
    expect(await sent(other, 30_000)).toBe(30_000);
  });

  it('is taken in blocks, of which what is left over serves the next connections', async () => {
    const takings: number[] = [];
    await using fixture = await gateFixture(LISTED, {
      write: async (what) => {
        if ('amount' in what && what.name === 'sent:example.org') takings.push(what.amount);
      },
    });
    for (let count = 0; count < 5; count += 1) {
      const secure = await fixture.secure('example.org');
      secure.end('x'.repeat(100));
      expect(await allOf(secure)).toHaveLength(100);
    }
    expect(takings).toEqual([16_384]);
  });
});
