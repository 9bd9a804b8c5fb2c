import { describe, expect, test } from '@jest/globals';
import { isLitterboxError, type LitterboxErrorCode } from '../domain/errors/errors.ts';
import { isListedPath } from '../domain/secrets/endpoint-policy.ts';
import { GATE_PORT } from '../domain/sandbox/gate-port.ts';
import { policyForBase, withheldNetwork } from '../use-cases/decide/policy-for-base.ts';
import { commandVariables } from '../services/command-variables.ts';
import { parseConfig } from './parse-config.ts';
import { policyOf } from './policy-of.ts';

const FACTS = {
  repositoryRoot: '/home/me/project',
  providerName: 'some',
  traits: { isolation: 'process', limits: [], workdir: '/src', roots: ['machine'] },
  canInstall: false,
} as const;
const policyFrom = (text: string, environment?: Readonly<Record<string, string>>) =>
  policyOf(parseConfig(text, '.litterbox.toml').config, environment ? { environment } : {}, FACTS);
const refusalOf = (action: () => unknown) => {
  try {
    action();
  } catch (error) {
    if (isLitterboxError(error)) return error;
    throw error;
  }
  throw new Error('was taken');
};

const SECRET = '[secrets]\nKEY = { pass = "work/key" }\n';
const OWN = `url = "https://api.example.org/base/"\nsecret = "KEY"\nheader = "X-Token: {secret}"\nmethods = ["GET"]\npaths = ["/v1/*", "/x"]`;

test('a kind has all that a file does not say, and a file may say otherwise', () => {
  const { endpoints = [] } = policyFrom(
    `${SECRET}[endpoints.model]\nkind = "anthropic"\nsecret = "KEY"\npaths = ["/v1/messages"]\n[endpoints.own]\n${OWN}\nport = 9000\nenv = { OWN_URL = "{url}/v1", OWN_KEY = "{placeholder}" }`,
  );
  expect(endpoints).toMatchObject([
    {
      name: 'model',
      inside: 42_501,
      url: 'https://api.anthropic.com',
      header: { name: 'x-api-key', value: '{secret}' },
      secret: { name: 'KEY', origin: { pass: 'work/key' } },
      methods: ['GET', 'HEAD', 'POST'],
      paths: ['/v1/messages'],
      placeholder: expect.stringMatching(/^sk-ant-api03-[\w-]{93}AA$/),
    },
    { name: 'own', inside: 9000, url: 'https://api.example.org/base', header: { name: 'x-token', value: '{secret}' } },
  ]);
  const record = {
    policy: policyFrom(
      `${SECRET}[endpoints.own-api]\n${OWN}\nport = 9000\nenv = { OWN_URL = "{url}/v1", OWN_KEY = "{placeholder}" }`,
    ),
  };
  const variables = commandVariables(record, 'run');
  expect(variables).toMatchObject({
    LITTERBOX_ENDPOINT_OWN_API: 'http://127.0.0.1:9000',
    OWN_URL: 'http://127.0.0.1:9000/v1',
    OWN_KEY: expect.stringContaining('placeholder'),
  });
  expect(Object.keys(commandVariables(record, 'setup'))).not.toContain('OWN_URL');
});

test("a setup has those that say so, unless its base is an agent's", () => {
  const policy = policyFrom(
    `${SECRET}[endpoints.a]\nkind = "anthropic"\nsecret = "KEY"\n[endpoints.b]\nkind = "openai"\nsecret = "KEY"\nsetup = true`,
  );
  const names = (of: typeof policy) => Object.keys(commandVariables({ policy: of }, 'setup')).join(' ');
  expect(names(policy)).toContain('OPENAI_API_KEY');
  expect(names(policy)).not.toContain('ANTHROPIC');
  const withheld = policyForBase(policy, { isPersons: false });
  expect(withheldNetwork(withheld)).toBeDefined();
  expect(names(withheld)).not.toContain('OPENAI');
  expect(commandVariables({ policy: withheld }, 'run')).toHaveProperty('OPENAI_API_KEY');
});

test.each([
  [
    'anthropic',
    {
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:42501',
      ANTHROPIC_HOST: 'http://127.0.0.1:42501',
      ANTHROPIC_API_KEY: /^sk-ant-api03-.{95}$/,
    },
  ],
  ['openai', { OPENAI_BASE_URL: 'http://127.0.0.1:42501/v1', OPENAI_API_KEY: /^sk-proj-.{48}$/ }],
  ['gemini', { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:42501', GEMINI_API_KEY: /^AIza[\w-]{35}$/ }],
  ['github', { GITHUB_API_URL: 'http://127.0.0.1:42501', GITHUB_TOKEN: /^ghp_[A-Za-z0-9]{36}$/ }],
])('programs find %s by its own variables', (kind, wanted) => {
  const policy = policyFrom(`${SECRET}[endpoints.a]\nkind = "${kind}"\nsecret = "KEY"`);
  const variables = commandVariables({ policy }, 'run');
  for (const [name, value] of Object.entries(wanted)) expect(variables[name]).toMatch(value);
});

describe('what is refused', () => {
  const own = (lines: string) => `[endpoints.own]\n${OWN}\n${lines}`;
  const without = (key: string) =>
    `[endpoints.own]\n${OWN.split('\n')
      .filter((line) => !line.startsWith(key))
      .join('\n')}`;
  const instead = (key: string, line: string) => `${without(key)}\n${line}`;
  const rows: readonly (readonly [name: string, text: string, code: LitterboxErrorCode])[] = [
    ['no table', 'endpoints = ["a"]', 'CONFIG_TYPE'],
    ['a setup', own('setup = "yes"'), 'CONFIG_TYPE'],
    ['no table below', 'endpoints.a = "b"', 'CONFIG_TYPE'],
    ['a name', '[endpoints.A]\nkind = "openai"', 'CONFIG_NAME'],
    [
      'two names of one variable',
      '[endpoints.a-b]\nkind = "openai"\nsecret = "KEY"\n[endpoints.a_b]\nkind = "openai"\nsecret = "KEY"',
      'CONFIG_NAME',
    ],
    ['a kind', '[endpoints.a]\nkind = "constructor"\nsecret = "KEY"', 'CONFIG_VALUE'],
    ['a key', own('value = "x"'), 'CONFIG_UNKNOWN_KEY'],
    ...['url', 'secret', 'header', 'methods', 'paths'].map(
      (key) => [`no ${key}`, without(key), 'CONFIG_MISSING'] as const,
    ),
    ...[
      'http://api.example.org',
      'https://user:word@api.example.org',
      'https://api.example.org/?a=b',
      'https://api.example.org/#a',
      'https://api.example.org/a/../b',
      'https://api.example.org//a',
      'https://api.example.org/%2e%2e',
      'https:///a',
      'https://[::1',
      'ftp://api.example.org',
    ].map((url) => [url, instead('url', `url = "${url}"`), 'CONFIG_VALUE'] as const),
    ...[
      'x-key',
      'x-key: a',
      'x-key: {secret} {secret}',
      'host: {secret}',
      'Transfer-Encoding: {secret}',
      'x y: {secret}',
      'x: {secret}\\r\\ny: z',
    ].map((header) => [header, instead('header', `header = "${header}"`), 'CONFIG_VALUE'] as const),
    ...['[]', '["TRACE"]', '["CONNECT"]', '["get"]', '"GET"'].map(
      (methods) => [`methods ${methods}`, instead('methods', `methods = ${methods}`), 'CONFIG_VALUE'] as const,
    ),
    ...['[]', '["v1"]', '["/a/../b"]', '["/a*b"]', '["/a//b"]', '["/%2e"]', '["https://a/"]'].map(
      (paths) => [`paths ${paths}`, instead('paths', `paths = ${paths}`), 'CONFIG_VALUE'] as const,
    ),
    ['a port', own('port = 0'), 'CONFIG_VALUE'],
    ['a reserved variable', own('env = { PATH = "{url}" }'), 'ENV_RESERVED'],
    ['a secret that nothing names', instead('secret', 'secret = "OTHER"'), 'CONFIG_VALUE'],
    ['a secret that nothing uses', '', 'CONFIG_VALUE'],
    ['a port of something else', `${own('port = 80')}\n[container.ports]\nweb = 80`, 'CONFIG_VALUE'],
    [
      'the port of the proxy',
      `${own(`port = ${GATE_PORT}`)}\n[network]\nrun = "allow-list"\nallow = ["example.org"]`,
      'CONFIG_VALUE',
    ],
  ];
  test.each(rows)('%s', (_name, text, code) => {
    const error = refusalOf(() => policyFrom(`${text}\n${SECRET}`));
    expect(error.code).toBe(code);
    expect(error.details.hint).toEqual(expect.any(String));
  });

  test('AX139: a variable set twice', () => {
    const model = `${SECRET}[endpoints.a]\nkind = "anthropic"\nsecret = "KEY"\n`;
    expect(policyFrom(model).endpoints).toHaveLength(1);
    const wrong = [
      () => policyFrom(`${model}[container.env]\nANTHROPIC_API_KEY = "sk-own"`),
      () => policyFrom(model, { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }),
      () => policyFrom(`${model}[endpoints.b]\nkind = "anthropic"\nsecret = "KEY"`),
    ];
    for (const action of wrong) expect(refusalOf(action)).toMatchObject({ code: 'CONFIG_VALUE' });
  });
});

test('a star stands for whatever follows, and nothing else does', () => {
  const listed = ['/v1/a', '/v1/models', '/v1/', '/v1', '/v1/models/x', '/v12'];
  expect(listed.filter((path) => isListedPath(['/v1/*'], path))).toEqual([
    '/v1/a',
    '/v1/models',
    '/v1/',
    '/v1/models/x',
  ]);
  expect(listed.filter((path) => isListedPath(['/v1/models'], path))).toEqual(['/v1/models']);
});
