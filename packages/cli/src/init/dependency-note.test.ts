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

const noteOf = (files: readonly string[], change: Partial<Policy> = {}, args = ['create', 'x'], repository?: string) =>
  dependencyNote({ slug: 'x', policy: { ...POLICY, ...change }, args, repository }, (name) => files.includes(name));
const lineOf = (...given: Parameters<typeof noteOf>) =>
  noteOf(...given)
    ?.split('\n')
    .at(-1);

it('gives a line that makes the sandbox again as it was asked for, with its dependencies', () => {
  expect(noteOf(['package.json', 'package-lock.json', 'node_modules'])).toBe(
    `Dependencies of package-lock.json are not in the sandbox: it holds what git tracks, not node_modules. This makes it again with them:
  litterbox delete x && litterbox create x --setup 'npm ci' --network setup --allow registry.npmjs.org`,
  );
  expect(lineOf(['requirements.txt'], {}, ['create', 'It is', '--env', "A=don't"], '/a b')).toBe(
    `  litterbox -C '/a b' delete x && litterbox create 'It is' --env 'A=don'\\''t' --setup 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt' --network setup --allow pypi.org,files.pythonhosted.org`,
  );
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
