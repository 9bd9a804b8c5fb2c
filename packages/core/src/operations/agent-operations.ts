import { createSandbox } from './create-sandbox.ts';
import { cutMilestone } from './cut-milestone.ts';
import { listSandboxes } from './list-sandboxes.ts';
import { readDiff } from './read-diff.ts';
import { readFile } from './read-file.ts';
import { readLog } from './read-log.ts';
import { runCommand } from './run-command.ts';
import { writeFile } from './write-file.ts';

/**
 * What an agent may ask for. A program that imports only this cannot reach what deletes, applies, merges or trusts
 * (design, D10).
 */
export const AGENT_OPERATIONS = [
  createSandbox,
  listSandboxes,
  runCommand,
  readFile,
  writeFile,
  cutMilestone,
  readLog,
  readDiff,
] as const;
