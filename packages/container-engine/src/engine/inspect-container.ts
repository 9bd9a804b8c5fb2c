import type { CallOptions } from '@litterbox/core/provider';
import { isObjectOf } from '@litterbox/linux-sandbox';
import type Docker from 'dockerode';
import type { Engine } from './engine.ts';
import { noAnswer } from './invalid-answer.ts';

/**
 * What an engine says of a container; undefined when there is none.
 *
 * @param container its id or its name
 * @throws LitterboxError `PROVIDER_PROTOCOL_ERROR` for what is no description of a container; else as the engine says
 */
export async function inspectContainer(
  engine: Engine,
  operation: string,
  container: string,
  options?: CallOptions & { readonly limitMs?: number },
): Promise<Docker.ContainerInspectInfo | undefined> {
  const found: unknown = await engine.askIfThere(
    operation,
    async (docker) => docker.getContainer(container).inspect(),
    options,
  );
  if (found === undefined) return undefined;
  if (isContainer(found)) return found;
  throw noAnswer(engine, operation, 'a container');
}

const isAny = () => true;
const isText = (value: unknown) => typeof value === 'string';

function isContainer(value: unknown): value is Docker.ContainerInspectInfo {
  if (!isObjectOf(value, isAny)) return false;
  const { Id, State, Config, HostConfig, Mounts } = value as Readonly<Record<string, unknown>>;
  return (
    typeof Id === 'string' &&
    /^[0-9a-f]{12,64}$/.test(Id) &&
    isObjectOf(State, isAny) &&
    isObjectOf(Config, isAny) &&
    hasTexts(Config) &&
    isObjectOf(HostConfig, isAny) &&
    Array.isArray(Mounts) &&
    Mounts.every((mount) => isObjectOf(mount, isAny))
  );
}

/** Engines write `null` for what is empty. */
function hasTexts(config: object): boolean {
  const { Env, Labels } = config as Readonly<Record<'Env' | 'Labels', unknown>>;
  const isList = Env === undefined || Env === null || (Array.isArray(Env) && Env.every(isText));
  return isList && (Labels === undefined || Labels === null || isObjectOf(Labels, isText));
}
