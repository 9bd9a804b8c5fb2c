import { expect, it } from '@jest/globals';
import type { Policy } from '@litterbox/core';
import { dependencyNote } from './dependency-note.ts';

const POLICY: Policy = {
  root: { type: 'machine' },
  limits: {},
  environment: {},
  setup: [],
  setupTimeoutMs: 1000,
  timeoutMs: 1000,
  network: { setup: 'none', run: 'none' },
  playgroundScope: 'sandbox',
  workspaceGit: 'none',
  worktrees: 'on-demand',
  requireMessage: false,
  allowDegraded: false,
};

const noteOf = (
  files: readonly string[],
  change: Partial<Policy> = {},
  args = ['create', 'x'],
  { repository, tracked = [] }: { readonly repository?: string; readonly tracked?: readonly string[] } = {},
) =>
  dependencyNote(
    { slug: 'x', policy: { ...POLICY, ...change }, args, repository },
    { has: (name) => files.includes(name), isIgnored: (name) => !tracked.includes(name) },
  );
const lineOf = (...given: Parameters<typeof noteOf>) =>
  noteOf(...given)
    ?.split('\n')
    .at(-1);

it('gives lines that make the sandbox again as it was asked for: with the copy of the person, and with a setup', () => {
  expect(noteOf(['package.json', 'package-lock.json', 'node_modules'])).toBe(
    `Git ignores node_modules, so your copy is not in the sandbox.
To recreate the sandbox with your copy, run:
  litterbox delete x && litterbox create x --include node_modules
To recreate the sandbox with dependencies installed from the network, run:
  litterbox delete x && litterbox create x --setup 'npm ci' --network setup --allow registry.npmjs.org`,
  );
  expect(noteOf(['package.json', 'package-lock.json'])).toBe(
    `No setup command ran for package-lock.json.
To recreate the sandbox with dependencies installed from the network, run:
  litterbox delete x && litterbox create x --setup 'npm ci' --network setup --allow registry.npmjs.org`,
  );
  expect(lineOf(['requirements.txt'], {}, ['create', 'It is', '--env', "A=don't"], { repository: '/a b' })).toBe(
    `  litterbox -C '/a b' delete x && litterbox create 'It is' --env 'A=don'\\''t' --setup 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt' --network setup --allow pypi.org,files.pythonhosted.org`,
  );
});

it('FC-43: says nothing of dependencies that came along, by include or because git has them', () => {
  const files = ['package.json', 'package-lock.json', 'node_modules', 'Cargo.toml', 'Cargo.lock', 'target'];
  expect(noteOf(files, { include: ['node_modules', 'target'] })).toBeUndefined();
  expect(noteOf(files, {}, undefined, { tracked: ['node_modules', 'target'] })).toBeUndefined();
  expect(noteOf(['go.mod', 'go.sum', 'vendor'], {}, undefined, { tracked: ['vendor'] })).toBeUndefined();
  const rest = noteOf(files, { include: ['node_modules'] });
  expect(rest).toContain('Git ignores target, so');
  expect(rest).not.toMatch(/npm|Git ignores node/);
  expect(rest).toContain('create x --include node_modules,target\n');
  const given = noteOf(files, { include: ['node_modules'] }, ['create', 'x', '--include', 'node_modules']);
  expect(given).toContain('create x --include node_modules --include target\n');
});

it('does not offer the copy of the person where the image has no tools for it', () => {
  const root = { type: 'image', reference: 'busybox:latest' } as const;
  expect(noteOf(['package.json', 'package-lock.json', 'node_modules'], { root })).not.toContain('--include');
});

it('keeps what may be reached already, and asks for every kind of project', () => {
  const network = { setup: 'none', run: 'allow-list', allow: ['a.example.org'] } as const;
  expect(lineOf(['Cargo.toml', 'Cargo.lock', 'go.mod', 'go.sum'], { network }, ['create', '--', 'x'])).toBe(
    "  litterbox delete x && litterbox create x --setup 'cargo fetch --locked && go mod download' --network both --allow a.example.org,index.crates.io,static.crates.io,proxy.golang.org,sum.golang.org",
  );
});

it('names an image that has the tools where there is the smallest one alone', () => {
  const root = { type: 'image', reference: 'busybox:latest' } as const;
  expect(lineOf(['package.json', 'yarn.lock'], { root })).toMatch(/ --image node:24$/);
  expect(lineOf(['package.json', 'yarn.lock'], { root: { ...root, reference: 'debian:12' } })).not.toContain('--image');
});

it('says nothing where a setup ran, and where nothing shows that there are dependencies', () => {
  expect(noteOf(['go.mod', 'go.sum'], { setup: [['true']] })).toBeUndefined();
  expect(noteOf(['go.mod', 'go.sum'], { install: [['true']] })).toBeUndefined();
  for (const files of [[], ['package.json'], ['go.mod'], ['pyproject.toml'], ['Cargo.toml'], ['node_modules']])
    expect({ files, note: noteOf(files) }).toEqual({ files, note: undefined });
  expect(noteOf(['package.json', 'node_modules'])).toContain('npm install');
});
