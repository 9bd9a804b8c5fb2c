import { expect, it } from '@jest/globals';
import { detected } from '../../domain/sandbox/ecosystems.ts';
import type { Policy } from '../../domain/sandbox/policy.ts';
import { dependencyAdvice } from './dependency-advice.ts';

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

const adviceOf = (
  files: readonly string[],
  directories: readonly string[] = [],
  change: Partial<Policy> = {},
  args = ['create', 'x'],
  repository?: string,
) =>
  dependencyAdvice(
    { slug: 'x', policy: { ...POLICY, ...change }, args, repository },
    { ecosystems: detected((name) => files.includes(name)), directories },
  );

it('gives lines that make the sandbox again as it was asked for: with the copy of the person, and with a setup', () => {
  const withSetup =
    "litterbox delete x && litterbox create x --setup 'npm ci' --network setup --allow registry.npmjs.org";
  expect(adviceOf(['package.json', 'package-lock.json'], ['node_modules'])).toEqual({
    reason: 'Git ignores node_modules, so it is not in the sandbox.',
    withCopy: 'litterbox delete x && litterbox create x --include node_modules',
    withSetup,
  });
  expect(adviceOf(['package.json', 'package-lock.json'])).toEqual({
    reason: 'No setup command ran for package-lock.json.',
    withSetup,
  });
  const spaced = adviceOf(['requirements.txt'], [], {}, ['create', 'It is', '--env', "A=don't"], '/a b');
  expect(spaced.withSetup).toBe(
    `litterbox -C '/a b' delete x && litterbox create 'It is' --env 'A=don'\\''t' --setup 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt' --network setup --allow pypi.org,files.pythonhosted.org`,
  );
});

it('adds to the paths that come along already', () => {
  const files = ['Cargo.toml', 'Cargo.lock'];
  const include = ['node_modules'];
  expect(adviceOf(files, ['target'], { include }).withCopy).toMatch(/create x --include node_modules,target$/);
  const given = adviceOf(files, ['target'], { include }, ['create', 'x', '--include', 'node_modules']);
  expect(given.withCopy).toMatch(/create x --include node_modules --include target$/);
});

it('does not offer the copy of the person where the image has no tools for it', () => {
  const root = { type: 'image', reference: 'busybox:latest' } as const;
  expect(adviceOf(['package.json', 'package-lock.json'], ['node_modules'], { root }).withCopy).toBeUndefined();
});

it('keeps what may be reached already, and asks for every kind of project', () => {
  const network = { setup: 'none', run: 'allow-list', allow: ['a.example.org'] } as const;
  const files = ['Cargo.toml', 'Cargo.lock', 'go.mod', 'go.sum'];
  expect(adviceOf(files, [], { network }, ['create', '--', 'x']).withSetup).toBe(
    "litterbox delete x && litterbox create x --setup 'cargo fetch --locked && go mod download' --network both --allow a.example.org,index.crates.io,static.crates.io,proxy.golang.org,sum.golang.org",
  );
});

it('names an image that has the tools where there is the smallest one alone', () => {
  const root = { type: 'image', reference: 'busybox:latest' } as const;
  const files = ['package.json', 'yarn.lock'];
  expect(adviceOf(files, [], { root }).withSetup).toMatch(/ --image node:24$/);
  expect(adviceOf(files, [], { root: { ...root, reference: 'debian:12' } }).withSetup).not.toContain('--image');
});
