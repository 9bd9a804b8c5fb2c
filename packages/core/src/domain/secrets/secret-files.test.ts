import { describe, expect, test } from '@jest/globals';
import { SECRET_LOOK_BYTES, SECRET_PATTERNS, secretByName, secretPaths, secretTexts } from './secret-files.ts';

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
    '.env~',
    '.env.d/database',
    'terraform.tfvars',
    'infra/prod.auto.tfvars',
    '.codex/auth.json',
    '.claude/settings.local.json',
    '.mcp.json',
    'local.settings.json',
    '.vault_pass',
    'id_rsa.bak',
    '.id_rsa.swp',
    'deploy/credentials.json.old',
    'server.pem.orig',
    '.bash_history',
    'x/.docker/config.json.bak',
    'config/credentials/production.key',
    '.m2/settings.xml',
    'home/.gradle/gradle.properties',
    '.dockercfg',
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
    'locales/en/auth.json',
    'gradle.properties',
    'maven/settings.xml',
    'dev.tfvars',
    '.claude/settings.json',
    'src/environment.bak',
    'notes.old',
    'history',
    '.env.example~',
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
    ['secret key of AWS', `aws_secret_access_key = ${token('wJalrXUtnFEMI/K7MDENG', '/bPxRfiCYABCDEFGHKL')}\n`],
    ['secret key of AWS', `"AWS_SECRET_ACCESS_KEY": "${'aB3+'.repeat(10)}"`],
    ['token of Slack', token('xoxb-', '123456789012-abc')],
    ['token of npm', token('npm_', 'a'.repeat(36))],
    ['private key', `[Interface]\nPrivateKey = ${'aB3+'.repeat(10)}abc=\n`],
    ['token that renews a login', `{"refresh_token": "1//0aBcDeFgHiJkLmNo"}`],
    ['password in an address', 'DATABASE=postgres://app:s3cr3t-word@db.prod.acme.dev/app'],
  ])('finds a %s', (holds, text) => {
    expect(textsOf('notes.txt', text)).toEqual([holds]);
  });

  test('takes keys of package managers in their files alone, and no variables', () => {
    const line = '//registry.example.org/:_authToken=0123456789\n';
    expect(textsOf('.npmrc', line)).toEqual(['token of a package registry']);
    expect(textsOf('.npmrc', '//registry.example.org/:_authToken=${NPM_TOKEN}\nregistry=x\n')).toEqual([]);
    expect(textsOf('notes.md', line)).toEqual([]);
  });

  test('reads UTF-16, with and without its mark', () => {
    const key = `key ${token('AKIA', 'ABCDEFGHIJKLMNOP')}\r\n`;
    const utf16 = (text: string) => Buffer.from(text, 'utf16le');
    for (const bytes of [utf16(key), utf16(`\ufeff${key}`), utf16(`\ufeff${key}`).swap16()])
      expect(secretTexts('notes.txt', bytes).map(({ holds }) => holds)).toEqual(['key of AWS']);
  });

  test('takes a login of a tool in its own file, and no words for people', () => {
    expect(textsOf('auth.json', '{"github-oauth": {"github.com": "x"}}')).toEqual(['login']);
    expect(textsOf('auth.json', '{"password": "Password", "login": "Log in"}')).toEqual([]);
  });

  test('finds nothing in what is no secret', () => {
    const others = [
      'postgres://postgres:postgres@db:5432/app',
      'mysql://root:secret-word@127.0.0.1/app',
      'amqp://guest:aWord@mq.example.com',
      'https://user:${TOKEN}@git.acme.dev/x.git',
      'https://user:<token>@git.acme.dev/x.git',
      'ssh://git@git.acme.dev:22/x.git',
      'PrivateKey = /etc/wireguard/key',
      '"refresh_token": "none"',
      '-----BEGIN PUBLIC KEY-----',
      '-----BEGIN CERTIFICATE-----',
      'ghp_short',
      'AKIAshort',
      'aws_secret_access_key = YOUR_SECRET_KEY',
      'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      'npm_config_cache',
    ];
    expect(textsOf('a', others.join('\n'))).toEqual([]);
  });

  test.each([
    ['deploy/env', 'DB_PASSWORD=correcthorse\n'],
    ['env.sh', '# of the database\nexport DB_PASSWORD="correcthorse"  # ours\n'],
    ['ENV.local', 'STRIPE_SECRET_KEY=12345678\r\nA=b\r\n'],
    ['settings.ini', '[db]\nuser = app\npassword = h7Gx2pq9\n'],
    ['my.conf', 'api-key: h7Gx2pq9;\n'],
    ['src/main/resources/application-prod.properties', 'spring.datasource.password=h7Gx2pq9'],
    ['config/database.yml', 'production:\n  password: "h7Gx2pq9"\n'],
    ['config.json', '{\n  "authToken": "h7Gx2pq9",\n  "port": 1\n}'],
    ['config.json', '{"token": "h7Gx2pq9"}'],
  ])('finds a secret in a setting of %j', (path, text) => {
    expect(textsOf(path, text)).toEqual(['secret in a setting']);
  });

  test.each([
    ['settings.ini', 'password =\npassword = ${DB_PASSWORD}\npassword = %(word1)s\npassword_min_length = 12\n'],
    ['deploy/env', 'DB_PASSWORD=changeme\nDB_PASSWORD=postgres\nA_TOKEN=your-token-1\nPASSWORD_FILE=/run/secrets/a1\n'],
    [
      'deploy/env',
      'DB_PASSWORD=/run/secrets/db1\nDB_PASSWORD=op://vault/item1\nDB_PASSWORD=$(pass db1)\nTOKEN=<token1>\n',
    ],
    [
      'messages_de.properties',
      'login.password=Kennwort\nerror.token=Das Token 1 gilt nicht\nforgot.password=Passwort-neu\n',
    ],
    ['config.yml', 'password: !vault a1\ntoken: true\nsecret: 3600\napi_key: null\n'],
    ['config.env.example', 'DB_PASSWORD=correcthorse1'],
    ['env.example', 'DB_PASSWORD=correcthorse1'],
    ['config.py', 'password = os.getenv("DB_PASSWORD1")\ntoken = "h7Gx2pq9"\n'],
    ['src/settings.ts', 'password: h7Gx2pq9'],
    ['locales/de.yml', 'password: Passwort1'],
    ['README.md', 'DB_PASSWORD=correcthorse'],
    ['config.json', '{ "tokens": ["a1b2c3"], "password": { "min": 8 } }'],
    ['package.properties', 'max.token=100'],
  ])('finds none in what says where one is, or is no setting: %j', (path, text) => {
    expect(textsOf(path, text)).toEqual([]);
  });

  test('takes no time for settings that an agent made', () => {
    const before = process.cpuUsage();
    for (const part of ['token', 'secret_key', 'a.token =', ' export ', 'password: "x', '\n{-'])
      expect(textsOf('a.ini', part.repeat(SECRET_LOOK_BYTES / part.length))).toEqual([]);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(2000);
  });

  test('looks at the beginning alone, and gives no endless list', () => {
    const key = token('AKIA', 'ABCDEFGHIJKLMNOP');
    expect(textsOf('a', `${' '.repeat(SECRET_LOOK_BYTES)}${key}`)).toEqual([]);
    expect(textsOf('a', `${key}\n`.repeat(1000))).toHaveLength(64);
  });
});

describe('secretPaths', () => {
  test.each([
    ['.env', ['.env']],
    ['app/.Env.production', ['app/.Env.production']],
    ['a/.aws/config', ['a/.aws', 'a/.aws/config']],
    ['.ssh/ID_RSA', ['.ssh', '.ssh/ID_RSA']],
    ['deploy/tls.key', ['deploy/tls.key']],
    ['deploy/credentials', ['deploy/credentials']],
    ['node_modules/aws-sdk/lib/credentials/chain.js', []],
    ['infra/prod.tfstate', ['infra/prod.tfstate']],
    ['.env.example', []],
    ['.environment', []],
    ['src/env.ts', []],
    ['xenv', []],
    ['keys', []],
    ['monkey', []],
  ])('%s', (path, found) => {
    expect(secretPaths(path)).toEqual(found);
  });

  test('takes no time for names that an agent made', () => {
    const before = process.cpuUsage();
    for (const part of ['example.', '.env.bak', '~#', '.#', '/.aws', '.env.'])
      expect(secretByName(`${part.repeat(2000)}/x`)).toBeUndefined();
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(2000);
  });

  test('tells programs of the machine the same names', () => {
    const matches = (pattern: string, path: string) => new RegExp(`^(${pattern})$`, 'i').test(path);
    expect(matches(SECRET_PATTERNS.hidden, 'a/b/.ENV.local')).toBe(true);
    expect(matches(SECRET_PATTERNS.hidden, '.docker/config.json~')).toBe(true);
    expect(matches(SECRET_PATTERNS.hidden, 'docker/config.json')).toBe(false);
    expect(matches(SECRET_PATTERNS.shown, 'a/.env.example')).toBe(true);
    // Extended regular expressions of POSIX have no groups that are not kept, no lookaround and no classes by letter.
    expect(Object.values(SECRET_PATTERNS).flat().join(' ')).not.toMatch(/\(\?|\\[dDsSwWbB]/);
    expect(SECRET_PATTERNS.fixedNames).toEqual(expect.arrayContaining(['.env', '.npmrc', 'id_rsa']));
  });
});
