import { describe, expect, test } from '@jest/globals';
import { upstreamProxyOf } from './upstream-proxy.ts';

describe('upstreamProxyOf', () => {
  test('nothing where no variable says something', () => {
    expect(upstreamProxyOf({})).toBeUndefined();
    expect(upstreamProxyOf({ HTTPS_PROXY: '', HTTP_PROXY: 'http://a:1' })).toBeUndefined();
  });

  test.each([
    [{ HTTPS_PROXY: 'http://proxy.example.org:3128' }, 'proxy.example.org', 3128],
    [{ https_proxy: 'proxy.example.org:3128/', HTTPS_PROXY: 'http://other:1' }, 'proxy.example.org', 3128],
    [{ ALL_PROXY: 'http://[::1]' }, '::1', 80],
  ])('%j', (environment, host, port) => {
    expect(upstreamProxyOf(environment)).toMatchObject({ host, port });
  });

  test('a name and a password are what the proxy is told', () => {
    const proxy = upstreamProxyOf({ HTTPS_PROXY: 'http://ada:p%40ss@proxy:1' });
    expect(proxy?.authorization).toBe(`Basic ${Buffer.from('ada:p@ss').toString('base64')}`);
  });

  test.each(['https://proxy:1', 'socks5h://proxy:1', 'http://', 'http://a b'])(
    '%s is refused, without a password',
    (text) => {
      const environment = { HTTPS_PROXY: text.replace('://', '://ada:secret@') };
      expect(() => upstreamProxyOf(environment)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
      expect(() => upstreamProxyOf(environment)).not.toThrow(/secret/);
    },
  );

  test('what is named is reached without it, and what is below', () => {
    const named = (list: string, host: string) =>
      upstreamProxyOf({ HTTPS_PROXY: 'http://a', NO_PROXY: list })?.isBypassed(host);
    for (const list of ['corp.example', '.corp.example', '*.corp.example', 'x, corp.example.', 'CORP.example'])
      expect(named(list, 'npm.corp.example')).toBe(true);
    expect(named('corp.example', 'evilcorp.example')).toBe(false);
    expect(named('*', 'a.example')).toBe(true);
    expect(named('', 'a.example')).toBe(false);
  });
});
