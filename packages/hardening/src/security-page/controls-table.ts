import type { Control, ControlName } from '@litterbox/core';
import { CONTROL_ATTACKS } from './control-attacks.ts';

export const TABLE_BEGIN = '<!-- measured: npm run docs:security -->';
export const TABLE_END = '<!-- end of what was measured -->';

/** The table of what a provider enforces, from what sandboxes of it reported. */
export function controlsTable(provider: string, controls: readonly Control[]): string {
  const rows = controls.map(
    ({ name, status, finding }) =>
      `| ${name} | ${status} | ${finding.replaceAll('|', '\\|')} | ${attacksOf(name) || 'nothing yet'} |`,
  );
  return [
    TABLE_BEGIN,
    '',
    `| control | ${provider} | as the kernel reports it | attacks that show it |`,
    '|---|---|---|---|',
    ...rows,
    '',
    TABLE_END,
  ].join('\n');
}

/** The page with its table replaced. */
export function withTable(page: string, table: string): string {
  const begin = page.indexOf(TABLE_BEGIN);
  const end = page.indexOf(TABLE_END);
  if (begin === -1 || end === -1) throw new Error('SECURITY.md has no place for the table.');
  return page.slice(0, begin) + table + page.slice(end + TABLE_END.length);
}

/** Control and status of each row of the page's table. */
export function rowsOf(page: string): ReadonlyMap<string, string> {
  const table = page.slice(page.indexOf(TABLE_BEGIN), page.indexOf(TABLE_END));
  return new Map(
    [...table.matchAll(/^\| ([a-z-]+) \| (enforced|weak|absent) \|/gm)].map(([, name = '', status = '']) => [
      name,
      status,
    ]),
  );
}

const attacksOf = (name: ControlName): string => CONTROL_ATTACKS[name].join(', ');
