import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { CONTROLS } from '@litterbox/core';
import { CONTROL_ATTACKS, controlsTable, measureControls, rowsOf, TABLE_BEGIN, TABLE_END } from '../../src/index.ts';

const read = (name: string) => readFileSync(new URL(`../../../../${name}`, import.meta.url), 'utf8');

it('SECURITY.md says of every control what a sandbox reports', async () => {
  const measured = new Map((await measureControls()).map(({ name, status }) => [name as string, status as string]));
  expect([...rowsOf(read('SECURITY.md'))]).toEqual([...measured]);
  expect([...measured.keys()]).toEqual([...CONTROLS]);
});

it('every attack that shows a control has a test', () => {
  const attacks = read('docs/attacks.md');
  for (const attack of Object.values(CONTROL_ATTACKS).flat())
    expect(attacks).toMatch(new RegExp(`^\\| ${attack} \\|.*\`attacks/[\\w.-]+\`: ${attack}\\b`, 'm'));
});

it('a control that is missing would show', () => {
  const table = controlsTable('overlayfs', [{ name: 'network', status: 'weak', finding: 'some' }]);
  expect([...rowsOf(`before\n${table}\nafter`)]).toEqual([['network', 'weak']]);
  expect([...rowsOf(`${TABLE_BEGIN}\n${TABLE_END}`)]).toEqual([]);
});
