import { setTimeout as delay } from 'node:timers/promises';
import { type CallOptions, isLitterboxError } from '@litterbox/core/provider';
import { isStatus } from './api/api-error.ts';
import type { KubeApi } from './api/kube-api.ts';

/** So often an object that nothing is heard of is looked at. */
const WATCH_MS = 3_000;
const FIRST_WAIT_MS = 100;
/** A server that refuses watches, or fails, is asked less and less often. */
const MAX_WAIT_MS = 1_000;

/**
 * An object now and whenever something happens to it, every few seconds in any case; undefined once it is gone, which is the last. Where the cluster
 * lets nobody watch, it is asked again and again.
 *
 * @param path of its kind
 * @param known how it was found a moment ago
 */
export async function* follow(
  api: KubeApi,
  path: string,
  name: string,
  options?: CallOptions,
  known?: unknown,
): AsyncGenerator<unknown, void, undefined> {
  let waitMs = FIRST_WAIT_MS;
  for (let found = known ?? (await look(api, path, name, options)); ; found = await look(api, path, name, options)) {
    yield found;
    if (found === undefined) return;
    const begun = performance.now();
    try {
      for await (const event of api.watch(
        'provider.watch',
        watchPath(path, name, versionOf(found)),
        WATCH_MS,
        options,
      )) {
        const { type, object } = event as { readonly type?: unknown; readonly object?: unknown };
        if (type === 'DELETED') return yield undefined;
        if (type !== 'MODIFIED' || metadataOf(object).name !== name) break; // an error, such as a version that is too old
        yield object;
      }
    } catch (error) {
      options?.signal?.throwIfAborted();
      if (!isLitterboxError(error)) throw error;
    }
    // One that was heard for its time is followed on at once.
    if (performance.now() - begun > WATCH_MS / 2) waitMs = FIRST_WAIT_MS;
    await delay(waitMs, undefined, { signal: options?.signal });
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
  }
}

async function look(api: KubeApi, path: string, name: string, options?: CallOptions): Promise<unknown> {
  try {
    return await api.ask('provider.find', `${path}/${name}`, { ...options });
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

const metadataOf = (found: unknown): { readonly name?: unknown; readonly resourceVersion?: unknown } =>
  (found as { readonly metadata?: object } | null)?.metadata ?? {};

function versionOf(found: unknown): string {
  const { resourceVersion } = metadataOf(found);
  return typeof resourceVersion === 'string' ? resourceVersion : '';
}

function watchPath(path: string, name: string, version: string): string {
  const query = new URLSearchParams({
    watch: '1',
    fieldSelector: `metadata.name=${name}`,
    timeoutSeconds: String(WATCH_MS / 1000),
    ...(version && { resourceVersion: version }),
  });
  return `${path}?${query.toString()}`;
}
