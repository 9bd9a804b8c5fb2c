import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { parseConnect } from '../src/parse-connect.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));
const connect = (target: string, ...headers: readonly string[]) =>
  parseConnect([`CONNECT ${target} HTTP/1.1`, ...headers].join('\r\n'));

describe('understood', () => {
  it.each([
    ['example.org:443', 'example.org', 443],
    ['EXAMPLE.org:443', 'example.org', 443],
    ['example.org.:443', 'example.org', 443],
    ['a-b.c1.example.org:8443', 'a-b.c1.example.org', 8443],
    ['xn--bcher-kva.example:443', 'xn--bcher-kva.example', 443],
    [`${'a'.repeat(63)}.example:1`, `${'a'.repeat(63)}.example`, 1],
    [`${'a.'.repeat(123)}example:65535`, `${'a.'.repeat(123)}example`, 65_535],
  ])('%s', (target, host, port) => {
    expect(connect(target)).toEqual({ host, port });
    expect(connect(target, `Host: ${target}`, 'User-Agent: x/1', 'Proxy-Connection: Keep-Alive')).toEqual({
      host,
      port,
    });
    expect(parseConnect(`CONNECT ${target} HTTP/1.0`)).toEqual({ host, port });
  });
});

describe('refused before any rule', () => {
  it.each([
    'example.org',
    'example.org:',
    'example.org:0',
    'example.org:65536',
    'example.org:0443',
    'example.org:443:443',
    'example.org:+443',
    'localhost:443',
    'example:443',
    '.example.org:443',
    'example..org:443',
    'example.org..:443',
    '-a.example.org:443',
    'a-.example.org:443',
    '_dmarc.example.org:443',
    '*.example.org:443',
    `${'a'.repeat(64)}.example:443`,
    `${'a.'.repeat(124)}example:443`,
    '127.0.0.1:443',
    '127.1:443',
    '2130706433:443',
    '0x7f.1:443',
    '0x7f000001:443',
    '1.2.3.0x4:443',
    '[::1]:443',
    '[::ffff:a9fe:a9fe]:443',
    '::1:443',
    'evil.test\u0000.example.org:443',
    'example.org%00:443',
    '%65xample.org:443',
    'example.org:443@evil.test',
    'user@example.org:443',
    'user:pass@example.org:443',
    'example.org:443/',
    'http://example.org:443',
    '127\u30020\u30020\u30021:443',
    'ex\u00e4mple.org:443',
    'example.org\t:443',
    'example.org:443 HTTP/1.1\r\nHost: evil.test',
  ])('%j', (target) => {
    expect(connect(target)).toMatchObject({ status: 400 });
  });

  it.each([
    'GET http://example.org/ HTTP/1.1\r\nHost: example.org',
    'GET / HTTP/1.1\r\nHost: example.org',
    'POST http://example.org/ HTTP/1.1',
    'PRI * HTTP/2.0',
    'OPTIONS * HTTP/1.1',
  ])('another method: %j', (head) => {
    const refusal = parseConnect(head);
    expect(refusal).toMatchObject({ reason: expect.any(String) });
    if (head.includes('HTTP/1.1'))
      expect(refusal).toMatchObject({ status: 405, reason: expect.stringContaining('HTTPS') });
    else expect(refusal).toMatchObject({ status: 400 });
  });

  it.each([
    '',
    'CONNECT',
    'CONNECT example.org:443',
    'CONNECT  example.org:443 HTTP/1.1',
    'CONNECT example.org:443  HTTP/1.1',
    'CONNECT example.org:443 HTTP/1.1 ',
    'CONNECT example.org:443 HTTP/0.9',
    'CONNECT example.org:443 HTTP/2',
    'connect example.org:443 HTTP/1.1',
    ' CONNECT example.org:443 HTTP/1.1',
    'CONNECT\texample.org:443\tHTTP/1.1',
    '\r\nCONNECT example.org:443 HTTP/1.1',
    'CONNECT example.org:443 HTTP/1.1\nHost: example.org',
  ])('a first line that is none: %j', (head) => {
    expect(parseConnect(head)).toMatchObject({ status: 400 });
  });

  it.each([
    [['Host: evil.test']],
    [['Host: example.org:444']],
    [['Host: example.org@evil.test']],
    [['Host: example.org', 'Host: example.org']],
    [['host: example.org', 'HOST: evil.test']],
    [['Transfer-Encoding: chunked']],
    [['Content-Length: 5']],
    [['Transfer-Encoding: chunked', 'Content-Length: 5']],
    [['Upgrade: h2c']],
    [['HTTP2-Settings: x']],
    [[' Host: example.org']],
    [['Host : example.org']],
    [['X: a\u0000b']],
    [['X: a\nY: b']],
    [['X: a\rY: b']],
    [['X: \u00e4']],
    [['X']],
    [[': x']],
    [[`X: ${'a'.repeat(2049)}`]],
    [Array.from({ length: 65 }, (_, index) => `X-${index}: y`)],
  ])('headers %j', (headers) => {
    expect(connect('example.org:443', ...headers)).toMatchObject({ status: 400 });
    // Positive control.
    expect(connect('example.org:443', 'X: y')).toEqual({ host: 'example.org', port: 443 });
  });
});

it('lets through nothing but names, whatever is asked', () => {
  const part = fc.oneof(
    fc.constantFrom(
      'example',
      'org',
      '.',
      ':',
      '443',
      '*',
      '-',
      '@',
      '[',
      ']',
      '%',
      '\u0000',
      '\r',
      '\n',
      ' ',
      '/',
      '0x7f',
      '127',
      '\u00e9',
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const found = connect(parts.join(''));
      if (!('host' in found)) return;
      expect(found.host).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/);
      expect(found.host.split('.').at(-1)).toMatch(/^[a-z]/);
      expect(Number.isInteger(found.port) && found.port > 0 && found.port < 65_536).toBe(true);
    }),
    { numRuns: runs(3000) },
  );
});

it('takes no longer over a header that is none than over one that is (L1)', () => {
  const head = `CONNECT example.org:443 HTTP/1.1\r\nX:${' '.repeat(8000)}\u0000`;
  const before = process.cpuUsage();
  for (let count = 0; count < 20; count += 1) expect(parseConnect(head)).toMatchObject({ status: 400 });
  const { user, system } = process.cpuUsage(before);
  expect(user + system).toBeLessThan(400_000); // it was a second and more
});
