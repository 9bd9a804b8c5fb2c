import * as z from 'zod';

/** Fields that several tools share, in words for a model. */
export const toolFields = {
  /** Says what it is by its name; a word more would stand in every tool. */
  sandbox: () => z.string(),
  path: () => z.string().describe('Relative to the workspace, or absolute in the sandbox'),
  message: () => z.string().optional().describe('Why, in one line'),
};

/** How long a tool waits for the call before it in the same sandbox: an agent's calls queue, a person is told at once. */
export const QUEUE_WAIT_MS = 600_000;
