import { callVariableProblem } from '../../config/settings/variable-problem.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';

/** @throws LitterboxError `ENV_NAME`, `ENV_VALUE` for what cannot be set for one command. */
export function assertVariables(operation: string, variables: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(variables)) {
    const problem = callVariableProblem(name, value);
    if (problem) throw new LitterboxError(problem.code, `env: ${problem.reason}.`, { operation, hint: problem.hint });
  }
}
