import { describe, expect, it } from '@jest/globals';
import type { Command } from '../processes/command.ts';
import { setupInputs } from './setup-inputs.ts';

const PATHS = [
  'package-lock.json',
  'web/package.json',
  'requirements-dev.txt',
  'Cargo.lock',
  'tools/prepare.sh',
  'tools/lib/helper',
  'src/main.ts',
  'README.md',
  'web/src/app.ts',
];
const TOOLS = ['package-lock.json', 'web/package.json', 'requirements-dev.txt', 'Cargo.lock'];

function read(...setup: readonly Command[]): readonly string[] {
  return PATHS.filter(setupInputs({ setup, workspaceGit: 'none' }));
}

describe('what a setup reads', () => {
  it.each([
    ['what tools read by themselves', ['npm', 'ci'], []],
    ['a file that is named', ['sh', './tools/prepare.sh'], ['tools/prepare.sh']],
    [
      'a file that is named in shell text',
      ['sh', '-c', 'cd /tmp; (sh "tools/prepare.sh"&&true)'],
      ['tools/prepare.sh'],
    ],
    ['a file that an option names', ['install', '--script=tools/prepare.sh'], ['tools/prepare.sh']],
    ['a directory that is named', ['make', '-C', 'tools/'], ['tools/prepare.sh', 'tools/lib/helper']],
    ['a directory on a way around', ['make', '-C', 'src/../tools/lib'], ['tools/lib/helper']],
    ['nothing outside', ['cat', '../src/main.ts', '/README.md'], []],
  ] as const)('%s', (_what, argv, more) => {
    expect(new Set(read(argv))).toEqual(new Set([...TOOLS, ...more]));
  });

  it('everything, when the workspace itself is named or a repository is made of it', () => {
    expect(read(['pip', 'install', '-e', '.'])).toEqual(PATHS);
    expect(read(['ls', './'])).toEqual(PATHS);
    expect(PATHS.filter(setupInputs({ setup: [['true']], workspaceGit: 'throwaway' }))).toEqual(PATHS);
  });
});
