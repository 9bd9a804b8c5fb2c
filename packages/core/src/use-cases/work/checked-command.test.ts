import { expect, test } from '@jest/globals';
import { assertVariables } from './assert-variables.ts';
import { checkedCommand } from './checked-command.ts';
import { needsKeeper } from '../keeper/needs-keeper.ts';
import { unsupportedNetwork } from '../network/unsupported-network.ts';

const coded = (code: string) => expect.objectContaining({ code });
const policy = (more: object) =>
  ({ policy: { network: { setup: 'none', run: 'none' }, ...more }, provider: 'p' }) as never;

test('a command is its text, arguments joined', () => {
  expect(checkedCommand('npm test')).toBe('npm test');
  expect(checkedCommand(['npm', 'test'])).toBe('npm test');
});

test('one that is empty, holds a NUL or is too long is refused; long arguments are for the runtime to judge', () => {
  expect(() => checkedCommand(' \n')).toThrow(coded('COMMAND_EMPTY'));
  expect(() => checkedCommand(['', ''])).toThrow(coded('COMMAND_EMPTY'));
  expect(() => checkedCommand('a\0')).toThrow(coded('COMMAND_NUL'));
  expect(() => checkedCommand('\u00fc'.repeat(70_000))).toThrow(coded('COMMAND_TOO_LONG'));
  expect(checkedCommand(['x'.repeat(130_000)])).toHaveLength(130_000);
});

test('variables are refused by name or value, and none is fine', () => {
  assertVariables('test');
  assertVariables('test', { A: 'x' });
  expect(() => assertVariables('test', { '1A': 'x' })).toThrow(coded('ENV_NAME'));
  expect(() => assertVariables('test', { A: 'a\0b' })).toThrow(coded('ENV_VALUE'));
});

test('services, ports and a network need a keeper, a setup with a network does not', () => {
  expect(needsKeeper(policy({}))).toBe(false);
  expect(needsKeeper(policy({ services: [{}] }))).toBe(true);
  expect(needsKeeper(policy({ ports: [{}] }))).toBe(true);
  expect(needsKeeper(policy({ network: { setup: 'none', run: 'allow-list' } }))).toBe(true);
  expect(needsKeeper(policy({ network: { setup: 'allow-list', run: 'none' } }))).toBe(false);
});

test('a network that a runtime has not is refused by the key that asks for it', () => {
  expect(unsupportedNetwork(policy({ network: { setup: 'allow-list', run: 'none' } })).message).toContain(
    'network.setup',
  );
  expect(unsupportedNetwork(policy({ network: { setup: 'none', run: 'allow-list' } })).message).toContain(
    'network.run',
  );
});
