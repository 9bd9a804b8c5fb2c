import { SandboxId } from '@litterbox/core/provider';
import { describe, expect, it } from '@jest/globals';
import { isDirectoryDescription, type ReadDescription } from './is-directory-description.ts';

const id = SandboxId.make();
const whole = {
  version: 1,
  id,
  slug: 'test',
  repositoryId: '00000000-0000-4000-8000-000000000000',
  workdir: '/home/me/a project',
  environment: { EDITOR: 'vi' },
  limits: { memoryBytes: 4096, cpus: 0.5 },
  playground: id,
  allowDegraded: false,
} as const satisfies ReadDescription;

describe('the description of a sandbox', () => {
  it('is one with all that every sandbox has', () => {
    expect(isDirectoryDescription(whole)).toBe(true);
    expect(isDirectoryDescription({ ...whole, more: 1 })).toBe(true);
  });

  it.each([
    { slug: 7 },
    { repositoryId: null },
    { workdir: 'src' },
    { workdir: '/src/../etc' },
    { workdir: '/src/.' },
    { workdir: '//src' },
    { workdir: '/src\0' },
    { environment: undefined },
    { environment: null },
    { environment: [] },
    { environment: { A: 1 } },
    { limits: undefined },
    { limits: { memoryBytes: '4096' } },
    { limits: { cpus: -1 } },
    { limits: { cpus: null } },
    { playground: undefined },
    { playground: '../../etc' },
    { playground: '-rf' },
    { playground: 'a/b' },
    { allowDegraded: 'false' },
  ])('is none with %j', (change) => {
    expect(isDirectoryDescription({ ...whole, ...change })).toBe(false);
  });
});
