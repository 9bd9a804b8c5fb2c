import { isLitterboxError } from '../domain/errors/errors.ts';
import type { FailedFork, ForkResult } from '../use-cases/create/fork-sandbox.ts';
import { portUrl } from './work/list-ports.ts';
import { hintForPeople } from './declare/step-command.ts';

/** A fork as JSON, or why it could not be made. */
export function forkDocument(fork: ForkResult | FailedFork): Readonly<Record<string, unknown>> {
  if ('error' in fork) {
    const { error } = fork;
    const { code, details } = isLitterboxError(error) ? error : { code: 'INTERNAL', details: undefined };
    return {
      error: { code, message: error.message, ...(details?.hint !== undefined && { hint: hintForPeople(details) }) },
    };
  }
  const { record, forkedFrom, warnings } = fork;
  return {
    name: record.slug,
    id: record.id,
    forkedFrom,
    provider: record.provider,
    workdir: record.workdir,
    warnings,
    ...(record.ports && { ports: record.ports.map((port) => ({ ...port, url: portUrl(port) })) }),
  };
}
