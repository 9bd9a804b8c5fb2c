import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

/** What is in the files that `litterbox mcp` runs from, as the bundler tells. */
const modules = JSON.parse(
  readFileSync(new URL('../bundle/modules.json', import.meta.url), 'utf8'),
) as readonly string[];

/** Files that delete, apply, merge, trust, go back or write configuration, and what leads to them. */
const FORBIDDEN = [
  ...[
    'remove/delete-sandbox',
    'remove/integrate-changes',
    'decide/trust-config',
    'go-back/restore-revision',
    'session/change-run-state',
    'work/attach-process',
  ].map((name) => `packages/core/dist/use-cases/${name}.js`),
  ...['delete-sandbox', 'review/integrate', 'trust-config', 'restore-revision', 'work/open-shell', 'operations'].map(
    (name) => `packages/core/dist/operations/${name}.js`,
  ),
  ...[
    'integrate/execute-plan',
    'plan/make-plan',
    'integrate/integration',
    'integrate/work-tree-update',
    'record/restore-revision',
    'integrate/reconcile-repository',
  ].map((name) => `packages/source-control-git/dist/${name}.js`),
  'packages/core/dist/wiring/person-use-cases.js',
  ...['person-use-cases', 'open-for-people', 'create-litterbox'].map((name) => `packages/litterbox/dist/${name}.js`),
];

describe('D10: the program for agents', () => {
  it('holds nothing that deletes, applies, merges, trusts or writes configuration', () => {
    expect(modules.length).toBeGreaterThan(150);
    expect(modules).toContain('packages/core/dist/use-cases/work/run-command.js');
    expect(modules.filter((path) => FORBIDDEN.includes(path) || path.startsWith('packages/cli/'))).toEqual([]);
  });

  it.each(FORBIDDEN)('would be told by %s', (path) => {
    const source = new URL(`../../../${path.replace('/dist/', '/src/').replace(/\.js$/, '.ts')}`, import.meta.url);
    expect(existsSync(source)).toBe(true);
  });
});
