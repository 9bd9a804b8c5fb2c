import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { delimiter } from 'node:path';
import { isHostName, LitterboxError, shown } from '@litterbox/core/provider';
import type { KubeConfig } from '@kubernetes/client-node';
import { ExecCredentials } from './exec-credentials.ts';
import { words } from './untrusted.ts';

/** A kubeconfig with certificates of many clusters is far smaller. */
const MAX_CONFIG_BYTES = 4 * 2 ** 20;

/** A cluster as the user's kubeconfig names it. */
export interface KubeContext {
  readonly name: string;
  readonly namespace: string;
  /** Address of the API server, without a slash at its end. */
  readonly server: string;
  /** Options of a connection: trust, keys, and the token of now. Runs the program that gives tokens, where the user's file names one. */
  connection(): Promise<RequestOptions>;
}

export interface KubeConfigInput {
  readonly provider: string;
  /** The variables of the user's own shell, never of a repository. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  /** @defaultValue the context that the file says is current */
  readonly context?: string | undefined;
  /** Ends a program that gives credentials when nobody wants them any more. */
  readonly closing: AbortSignal;
}

/**
 * Reads the user's kubeconfig: the files that `KUBECONFIG` names, or `~/.kube/config`. The client library is loaded with the first call.
 *
 * @throws LitterboxError `UNAVAILABLE` without a file; `CONFIG_SYNTAX` for one that says nothing; `NOT_FOUND` for a context that is not in it
 */
export async function readKubeConfig(input: KubeConfigInput): Promise<KubeContext> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  const paths = (input.environment['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  const files = paths.length > 0 ? paths : [`${input.homeDirectory}/.kube/config`];
  let found = 0;
  for (const file of files) {
    const text = await readConfigFile(input, file);
    if (text === undefined) continue;
    const next = new KubeConfig();
    try {
      next.loadFromString(text);
      next.makePathsAbsolute(file.slice(0, file.lastIndexOf('/')) || '.');
      if (found === 0) config.loadFromOptions(next);
      else config.mergeConfig(next);
    } catch {
      throw broken(input, file); // the parser's own words quote the file, which holds keys
    }
    found += 1;
  }
  if (found === 0)
    throw new LitterboxError('UNAVAILABLE', `There is no kubeconfig at ${files.map(shown).join(', ')}.`, {
      operation: 'kubernetes.connect',
      provider: input.provider,
      hint: 'Set KUBECONFIG to the file of your cluster, or get one with the tool of your cluster.',
    });
  return contextOf(input, config, files);
}

function contextOf(input: KubeConfigInput, config: KubeConfig, files: readonly string[]): KubeContext {
  const names = config.getContexts().map(({ name }) => name);
  const name = input.context ?? config.getCurrentContext();
  if (!names.includes(name))
    throw new LitterboxError(
      'NOT_FOUND',
      name
        ? `The kubeconfig has no context ${shown(name)}; it has ${names.map(shown).join(', ') || 'none'}.`
        : `The kubeconfig says no current context; it has ${names.map(shown).join(', ') || 'none'}.`,
      {
        operation: 'kubernetes.connect',
        provider: input.provider,
        hint: names.some(isHostName)
          ? 'Name one of them, such as kubernetes@CONTEXT.'
          : 'Give one a name of small letters, digits, dots and hyphens: kubectl config rename-context OLD NEW.',
      },
    );
  config.setCurrentContext(name);
  const user = config.getCurrentUser();
  if (user?.exec) new ExecCredentials(input.environment, input.closing).takeOver(config, user);
  const context = config.getContextObject(name);
  const server = config.getCurrentCluster()?.server;
  if (!context || !server || !/^https?:\/\//.test(server)) throw broken(input, files[0] ?? '');
  return {
    name,
    namespace: context.namespace ?? 'default',
    server: server.replace(/\/+$/, ''),
    async connection() {
      const options: RequestOptions = {};
      try {
        await config.applyToHTTPSOptions(options);
      } catch (error) {
        throw new LitterboxError(
          'PERMISSION_DENIED',
          `The kubeconfig gives no credentials for the context ${shown(name)}: ${words(error instanceof Error ? error.message : '') || 'a file or program that it names fails'}.`,
          {
            operation: 'kubernetes.connect',
            provider: input.provider,
            hint: `Log in to the cluster again, then try kubectl --context ${shown(name)} get pods.`,
          },
          { cause: error },
        );
      }
      return options;
    },
  };
}

async function readConfigFile(input: KubeConfigInput, file: string): Promise<string | undefined> {
  try {
    const bytes = await readFile(file);
    if (bytes.length > MAX_CONFIG_BYTES) throw broken(input, file);
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof LitterboxError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new LitterboxError('CONFIG_UNREADABLE', `${shown(file)} cannot be read.`, {
      operation: 'kubernetes.connect',
      provider: input.provider,
      hint: 'Check who may read it.',
    });
  }
}

function broken(input: KubeConfigInput, file: string): LitterboxError {
  return new LitterboxError('CONFIG_SYNTAX', `${shown(file)} is no kubeconfig with a cluster, a user and a context.`, {
    operation: 'kubernetes.connect',
    provider: input.provider,
    hint: 'Run kubectl config view: it says what is wrong with it.',
  });
}
