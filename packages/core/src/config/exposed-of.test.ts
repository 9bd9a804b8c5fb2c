import { expect, test } from '@jest/globals';
import { parseConfig } from './parse-config.ts';
import { policyOf } from './policy-of.ts';
import { trustText } from './trust-text.ts';

const FACTS = {
  repositoryRoot: '/home/me/project',
  providerName: 'some',
  traits: { isolation: 'process', limits: [], workdir: '/src', roots: ['machine'] },
  canInstall: false,
} as const;
const TOKEN = 'TOKEN = { pass = "work/token", expose = "NPM_TOKEN" }\n';
const ENDPOINT = '[endpoints.model]\nkind = "anthropic"\n';
const configOf = (text: string) => parseConfig(`[secrets]\n${text}`, '.litterbox.toml').config;

test('an exposed secret is part of the policy by name, variable and origin', () => {
  expect(policyOf(configOf(TOKEN), {}, FACTS).exposed).toEqual([
    { name: 'TOKEN', variable: 'NPM_TOKEN', origin: { pass: 'work/token' } },
  ]);
  expect(policyOf(configOf(''), {}, FACTS)).not.toHaveProperty('exposed');
});

test('a person agrees to its name, variable and origin', () => {
  expect(trustText(configOf(TOKEN))).toBe('secrets.TOKEN = {"expose":"NPM_TOKEN","pass":"work/token"}\n');
});

test.each([
  ['a variable of the environment', `${TOKEN}[container.env]\nNPM_TOKEN = "x"\n`, 'secrets.TOKEN.expose'],
  ['one variable for two', `${TOKEN}B = { expose = "NPM_TOKEN" }\n`, 'secrets.B.expose'],
  [
    'a variable of an endpoint',
    `K = {}\nT = { expose = "ANTHROPIC_API_KEY" }\n${ENDPOINT}secret = "K"\n`,
    'secrets.T.expose',
  ],
  [
    'what an endpoint sets outside',
    `${TOKEN}${ENDPOINT}secret = "TOKEN"\n`,
    'the endpoint model sets this secret outside',
  ],
  ['a secret that nobody uses', 'B = {}\n', 'secrets.B is used by no endpoint, and exposed to no command'],
])('refuses %s', (_what, text, message) => {
  expect(() => policyOf(configOf(text), {}, FACTS)).toThrow(message);
});
