import { LitterboxError, visibleName } from '@litterbox/core/agent';
import type { LitterboxOptions } from './litterbox-options.ts';

/** Every option, so that none is ignored that somebody believes in. */
const KNOWN: Readonly<Record<keyof LitterboxOptions, true>> = {
  repo: true,
  providers: true,
  stateDirectory: true,
  actor: true,
  approver: true,
  environment: true,
  launchKeeper: true,
  openHosts: true,
  parts: true,
};
const EXAMPLE = "createLitterbox({ repo: '/path/to/repository', providers: [overlayfs] })";

/**
 * Looks whether options are what they have to be. Who writes JavaScript has no types that would.
 *
 * @throws LitterboxError `ARG_MISSING`, `ARG_TYPE`, `ARG_UNKNOWN`
 */
export function assertOptions(options: unknown): asserts options is LitterboxOptions {
  if (typeof options !== 'object' || options === null)
    throw refused('ARG_MISSING', `createLitterbox needs options, but got ${visibleName(String(options))}.`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(KNOWN, name));
  if (unknown !== undefined)
    throw refused(
      'ARG_UNKNOWN',
      `createLitterbox has no option ${visibleName(unknown)}.`,
      `There are: ${Object.keys(KNOWN).join(', ')}.`,
    );
  const { providers, repo, stateDirectory } = options as Partial<Record<keyof LitterboxOptions, unknown>>;
  if (providers === undefined)
    throw refused('ARG_MISSING', 'createLitterbox needs the option providers: a list of providers of sandboxes.');
  if (!Array.isArray(providers) || providers.length === 0)
    throw refused('ARG_TYPE', 'The option providers must be a list with at least one provider.');
  const kinds = providers.map((one: unknown) => (one === null ? 'null' : typeof one));
  const wrong = kinds.find((kind) => kind !== 'function' && kind !== 'object');
  if (wrong !== undefined)
    throw refused('ARG_TYPE', `The option providers contains ${wrong}, which is not a provider.`);
  for (const [name, value] of Object.entries({ repo, stateDirectory }))
    if (value !== undefined && typeof value !== 'string' && !(name === 'repo' && value === false))
      throw refused(
        'ARG_TYPE',
        `The option ${name} is ${visibleName(JSON.stringify(value) ?? typeof value)}, which is not a path.`,
      );
}

function refused(code: LitterboxError['code'], message: string, hint = `Such as: ${EXAMPLE}.`): LitterboxError {
  return new LitterboxError(code, message, { operation: 'litterbox.create', hint });
}
