import { describe, expect, it } from '@jest/globals';
import { isElsewhere, showAddress } from './engine-address.ts';
import { parseEngineAddress } from './parse-engine-address.ts';

const tls = { directory: '/certificates' };
const parse = (text: string, more: object = {}) =>
  parseEngineAddress({ text, source: 'DOCKER_HOST', tlsHint: 'Use TLS.', provider: 'docker', ...more });

describe('the address of an engine', () => {
  it.each([
    ['unix:///run/docker.sock', {}, '/run/docker.sock', false],
    ['tcp://127.0.0.1', {}, 'tcp://127.0.0.1:2375', false],
    ['localhost:2375', {}, 'tcp://localhost:2375', false],
    ['tcp://[::1]:2375/', {}, 'tcp://[::1]:2375', false],
    ['tcp://127.0.0.1', { tls }, 'tcp://127.0.0.1:2376', false],
    ['tcp://build.example.org:1234', { tls }, 'tcp://build.example.org:1234', true],
    ['tcp://[2001:db8::7]', { tls }, 'tcp://[2001:db8::7]:2376', true],
    ['ssh://me@build.example.org:2222', {}, 'ssh://me@build.example.org:2222', true],
    ['ssh://box/run/docker.sock', {}, 'ssh://box/run/docker.sock', true],
    ['ssh://box/', {}, 'ssh://box', true],
  ])('%s is read, and shown', (text, more, shown, elsewhere) => {
    const address = parse(text, more);
    expect({ shown: showAddress(address), elsewhere: isElsewhere(address) }).toEqual({ shown, elsewhere });
  });

  it.each([
    '',
    'tcp://',
    'tcp://:2375',
    'tcp://10.0.0.7:0',
    'tcp://10.0.0.7:70000',
    'tcp://127.0.0.1:2375/prefix',
    'tcp://-oProxyCommand=x:1',
    'tcp://user@127.0.0.1:1',
    'unix://socket',
    'unix:///a\nb',
    'ssh://',
    'ssh:///socket',
    'ssh://me@box/run/podman.sock?secure=True',
    'fd://',
    'http://127.0.0.1',
    'npipe:////./pipe/x',
  ])('%j is none that can be honoured', (text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });

  it.each([
    'tcp://10.0.0.7:2375',
    'tcp://127.0.0.1.example.org',
    'tcp://0.0.0.0:2375',
    'tcp://localhost.example.org:2375',
    'tcp://[::]:2375',
  ])('%s without TLS is refused, with how to have it', (text) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        code: 'UNSUPPORTED',
        details: expect.objectContaining({ hint: expect.stringContaining('Use TLS. Or reach it over SSH') }),
      }),
    );
  });

  it('shows no password', () => {
    expect(() => parse('ssh://me:secret@box')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    );
  });
});
