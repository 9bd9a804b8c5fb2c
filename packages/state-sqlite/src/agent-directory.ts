import { join } from 'node:path';

/** Below the state directory, with a directory for each sandbox in which an agent worked. */
export const AGENTS = 'agents';

/**
 * Where is kept what tells of the agent in a sandbox: its output, and which process lets it work. It goes with the record of the sandbox.
 *
 * @param id of the sandbox
 */
export const agentDirectory = (stateDirectory: string, id: string): string => join(stateDirectory, AGENTS, id);
