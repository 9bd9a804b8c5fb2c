import { isLitterboxError, LitterboxError, shown } from '@litterbox/core/provider';
import { isOn } from './user-config.ts';

export interface MergeArguments {
  readonly strategy: 'ort' | 'ours' | 'subtree';
  /** Values of `-X`, in order. */
  readonly strategyOptions: readonly string[];
  readonly fastForward: 'allowed' | 'never' | 'only' | undefined;
  readonly squash: boolean;
  readonly message?: string;
  /** An empty key is the person's default one. */
  readonly signingKey?: string;
  readonly signOff: boolean;
}

const STRATEGY_OPTION =
  /^(?:ours|theirs|patience|ignore-(?:space-change|all-space|space-at-eol|cr-at-eol)|renormalize|no-renormalize|no-renames|find-renames(?:=\d{1,3}%?)?|rename-threshold=\d{1,3}%?|diff-algorithm=(?:myers|minimal|patience|histogram)|subtree(?:=[^-].*)?)$/;

/** Reads the arguments of `git merge` that are let through (security.md, B68). @throws LitterboxError `MERGE_ARG_NOT_ALLOWED`. */
export function parseMergeArguments(args: readonly string[]): MergeArguments {
  let strategy: MergeArguments['strategy'] = 'ort';
  const strategyOptions: string[] = [];
  const messages: string[] = [];
  let fastForward: MergeArguments['fastForward'];
  let squash = false;
  let signOff = false;
  let signingKey: string | undefined;
  const rest = [...args];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const whole = argument;
    const value = (...spellings: string[]): string | undefined => {
      for (const spelling of spellings) {
        if (whole === spelling) return rest.shift() ?? '';
        const joined = spelling.startsWith('--') ? `${spelling}=` : spelling;
        if (whole.startsWith(joined)) return whole.slice(joined.length);
      }
      return undefined;
    };
    const strategyName = value('-s', '--strategy');
    const strategyOption = strategyName === undefined ? value('-X', '--strategy-option') : undefined;
    const message = strategyName === undefined && strategyOption === undefined ? value('-m') : undefined;
    if (strategyName !== undefined) {
      if (strategyName !== 'ort' && strategyName !== 'ours' && strategyName !== 'subtree') throw refuse(whole);
      strategy = strategyName;
    } else if (strategyOption !== undefined) {
      if (!STRATEGY_OPTION.test(strategyOption)) throw refuse(`${whole} ${strategyOption}`);
      strategyOptions.push(strategyOption);
    } else if (message !== undefined) messages.push(message);
    else if (whole === '--no-ff') fastForward = 'never';
    else if (whole === '--ff') fastForward = 'allowed';
    else if (whole === '--ff-only') fastForward = 'only';
    else if (whole === '--squash') squash = true;
    else if (whole === '--signoff') signOff = true;
    else if (/^-S[^\s-][^\s]*$|^-S$/.test(whole)) signingKey = whole.slice(2);
    else throw refuse(whole);
  }
  return {
    strategy,
    strategyOptions,
    fastForward,
    squash,
    signOff,
    ...(messages.length > 0 ? { message: messages.join('\n\n') } : {}),
    ...(signingKey === undefined ? {} : { signingKey }),
  };
}

/**
 * The arguments of a merge into a branch, those of `branch.<name>.mergeOptions` first, as git takes them. Where one of the configuration's is
 * not let through, none of them counts, and its value is told.
 */
export function withConfiguredArguments(
  given: readonly string[],
  configured: string | undefined,
): { readonly options: MergeArguments; readonly notFollowed?: string } {
  const options = parseMergeArguments(given);
  if (configured === undefined) return { options };
  // Quotes are for values with spaces, which nothing that is let through has.
  const words = configured.split(/\s+/).filter(Boolean);
  try {
    parseMergeArguments(words);
  } catch (error) {
    if (!isLitterboxError(error, 'MERGE_ARG_NOT_ALLOWED')) throw error;
    return { options, notFollowed: configured };
  }
  return { options: parseMergeArguments([...words, ...given]) };
}

function refuse(argument: string): LitterboxError {
  return new LitterboxError(
    'MERGE_ARG_NOT_ALLOWED',
    `git merge would get the argument ${shown(argument)}, which is not allowed.`,
    {
      operation: 'integration.plan',
      hint: 'Use --strategy=ort|ours|subtree, -X ours|theirs|…, --no-ff, --ff-only, --squash, -m, -S or --signoff.',
      facts: { argument },
    },
  );
}

/** Signed where the person signs all commits. */
export function withDefaultSigning(options: MergeArguments, config: ReadonlyMap<string, string>): MergeArguments {
  if (options.signingKey !== undefined) return options;
  return isOn(config.get('commit.gpgsign')) ? { ...options, signingKey: '' } : options;
}
