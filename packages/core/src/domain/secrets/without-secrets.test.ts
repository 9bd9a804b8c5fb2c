import { expect, test } from '@jest/globals';
import { withoutSecrets, withoutSecretWords } from './without-secrets.ts';

const without = (text: string) => Buffer.from(withoutSecrets(Buffer.from(text))).toString();
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const BODY = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n'.repeat(6);

test('what looks like no secret stays as it is, byte for byte', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_none, byte) => byte);
  expect(withoutSecrets(bytes)).toBe(bytes);
  const mixed = Buffer.concat([bytes, Buffer.from(`\n${TOKEN}\n`), bytes]);
  const note = Buffer.from('\n[left out: token of GitHub]\n');
  expect(Buffer.from(withoutSecrets(mixed))).toEqual(Buffer.concat([bytes, note, bytes]));
});

test('tokens and settings go, wherever and however often they stand', () => {
  expect(without(`a ${TOKEN} b ${TOKEN}\nok\n`)).toBe(
    'a [left out: token of GitHub] b [left out: token of GitHub]\nok\n',
  );
  expect(without('HOME=/root\nDB_PASSWORD=correct1horse\n')).toBe('HOME=/root\n[left out: secret in a setting]\n');
  const many = Array.from(
    { length: 300 },
    (_none, number) => `AKIA${String(number).replaceAll(/\d/g, 'Q').padEnd(16, 'ABCDEFGHIJKLMN23')}`,
  );
  expect(without(many.join('\n'))).not.toContain('AKIA');
  const different = Array.from({ length: 200 }, (_none, number) => `ghp_${String(number).padStart(36, 'x')}`);
  expect(without(different.join('\n'))).not.toContain('ghp_');
});

test('a private key goes as a whole, and so does what a cut left of one', () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${BODY}-----END PRIVATE KEY-----\n`;
  expect(without(`before\n${key}after\n`)).toBe('before\n[left out: private key]\nafter\n');
  expect(without(`before\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n${BODY}`)).toBe(
    'before\n[left out: private key]',
  );
  expect(without(`${BODY}-----END PRIVATE KEY-----\nafter\n`)).toBe('[left out: private key]\nafter\n');
});

test('nothing is kept of a text in an encoding in which a secret was seen and cannot be taken out', () => {
  expect(without(Buffer.from(`a ${TOKEN} b`, 'utf16le').toString('latin1'))).toBe('[left out: token of GitHub]');
});

test('FC-313: of a command the secret goes, and the words about it stay', () => {
  expect(withoutSecretWords(`curl -H 'Authorization: Bearer ${TOKEN}' https://example.org`)).toBe(
    "curl -H 'Authorization: Bearer [left out: token of GitHub]' https://example.org",
  );
  expect(withoutSecretWords('DB_PASSWORD=correct1horse npm test')).toBe('[left out: secret in a setting] npm test');
  expect(withoutSecretWords('echo "Größe: \u00e9" >\u{1f600}')).toBe('echo "Größe: \u00e9" >\u{1f600}');
});
