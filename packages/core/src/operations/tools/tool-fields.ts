import * as z from 'zod';

/** Fields that several tools share, in words for a model. */
export const toolFields = {
  sandbox: () => z.string().describe('Name of the sandbox'),
  path: (what: string) => z.string().describe(`${what}, relative to the workspace or absolute in the sandbox`),
  message: () => z.string().optional().describe('Why, in one line: becomes the subject of the recorded revision'),
};

/** How long a tool waits for the call before it in the same sandbox: an agent's calls queue, a person is told at once. */
export const QUEUE_WAIT_MS = 600_000;
