import { describe, expect, test } from '@jest/globals';
import { SECRET_LOOK_BYTES, secretByName, secretTexts } from './secret-files.ts';

const textsOf = (path: string, text: string) =>
  secretTexts(path, new TextEncoder().encode(text)).map(({ holds }) => holds);
/** Written in two halves, so that no scanner of secrets takes this file for one. */
const token = (prefix: string, rest: string) => `${prefix}${rest}`;

describe('secretByName', () => {
  test.each([
    '.env',
    '.ENV',
    'api/.Env.local',
    '.env.production',
    'prod.env',
    'id_rsa',
    'keys/ID_ED25519',
    'server.pem',
    'tls/server.KEY',
    'a.p12',
    'a.pfx',
    '.netrc',
    '.pypirc',
    'credentials',
    'x/.aws/credentials',
    '.git-credentials',
    '.kube/config',
    'x/.docker/config.json',
    '.azure/msal_token_cache.json',
    'passwords.kdbx',
    '.e\u200bnv', // HFS+ leaves such characters out
    'terraform.tfstate',
  ])('holds back %j', (path) => {
    expect(secretByName(path)).toMatch(/\w/);
  });

  test.each([
    '.env.example',
    '.env.sample',
    '.env.template',
    '.env.dist',
    '.env.local.example',
    'example.env',
    'id_rsa.pub',
    'environment.ts',
    'env',
    'key.ts',
    'config',
    'docker/config.json',
    'azure/main.bicep',
    '.npmrc',
    'credentials.ts',
    'README.md',
  ])('lets %j through', (path) => {
    expect(secretByName(path)).toBeUndefined();
  });
});

describe('secretTexts', () => {
  test.each([
    ['private key', `x\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb\n`],
    ['private key', `{"private_key": "-----BEGIN PRIVATE KEY-----\\nMII"}`],
    ['private key', `-----BEGIN PGP PRIVATE KEY BLOCK-----\n`],
    ['token of GitHub', `t = '${token('ghp_', 'a1B2'.repeat(9))}'`],
    ['token of GitLab', token('glpat-', 'abcdefghij0123456789')],
    ['key of AWS', `key=${token('AKIA', 'ABCDEFGHIJKLMNOP')}\n`],
    ['token of Slack', token('xoxb-', '123456789012-abc')],
    ['token of npm', token('npm_', 'a'.repeat(36))],
  ])('finds a %s', (holds, text) => {
    expect(textsOf('notes.txt', text)).toEqual([holds]);
  });

  test('takes keys of package managers in their files alone, and no variables', () => {
    const line = '//registry.example.org/:_authToken=0123456789\n';
    expect(textsOf('.npmrc', line)).toEqual(['token of a package registry']);
    expect(textsOf('.npmrc', '//registry.example.org/:_authToken=${NPM_TOKEN}\nregistry=x\n')).toEqual([]);
    expect(textsOf('notes.md', line)).toEqual([]);
  });

  test('finds nothing in what is no secret', () => {
    const others = [
      '-----BEGIN PUBLIC KEY-----',
      '-----BEGIN CERTIFICATE-----',
      'ghp_short',
      'AKIAshort',
      'npm_config_cache',
    ];
    expect(textsOf('a', others.join('\n'))).toEqual([]);
  });

  test('looks at the beginning alone, and gives no endless list', () => {
    const key = token('AKIA', 'ABCDEFGHIJKLMNOP');
    expect(textsOf('a', `${' '.repeat(SECRET_LOOK_BYTES)}${key}`)).toEqual([]);
    expect(textsOf('a', `${key}\n`.repeat(1000))).toHaveLength(64);
  });
});
