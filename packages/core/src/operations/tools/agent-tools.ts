import * as z from 'zod';
import type { Operation } from '../declare/operation.ts';
import { bash } from './bash.ts';
import { boundOperation, boundSandbox } from './bound-sandbox.ts';
import { edit } from './edit.ts';
import { git } from './git.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { ls } from './ls.ts';
import { patch } from './patch.ts';
import { placedOperation } from './placed-operation.ts';
import { read } from './read.ts';
import { sandboxCreate } from './sandbox-create.ts';
import { sandboxList } from './sandbox-list.ts';
import { sandboxMilestone } from './sandbox-milestone.ts';
import { sandboxPorts } from './sandbox-ports.ts';
import { sandboxService } from './sandbox-service.ts';
import { sandboxStatus } from './sandbox-status.ts';
import type { PermissionRequest, Tool, ToolAnswer, ToolProfile, ToolSetting } from './tool.ts';
import { write } from './write.ts';

/**
 * What an agent may ask for. A program that imports only this cannot reach what deletes, applies, merges, trusts or writes
 * configuration (design, D10).
 */
export const AGENT_TOOLS: readonly Tool[] = [
  sandboxCreate,
  sandboxList,
  sandboxStatus,
  sandboxMilestone,
  sandboxService,
  sandboxPorts,
  read,
  write,
  edit,
  patch,
  bash,
  ls,
  glob,
  grep,
  git,
];

/** Which tools an agent is offered: profile, prefix, and the sandbox it is bound to. */
export interface ToolChoice {
  readonly profile: ToolProfile;
  /** Put before every name. */
  readonly prefix: string;
  /** The one sandbox that is worked in; tools then take no name, and none is made or listed. */
  readonly sandbox?: string | undefined;
  readonly setting: ToolSetting;
}

/** A tool as it is offered: everything an adapter hands on. */
export interface OfferedTool
  extends Pick<Tool, 'name' | 'title' | 'effect' | 'isIdempotent' | 'isOpenWorld' | 'facts'> {
  readonly description: string;
  /** What a caller gives. */
  readonly input: z.ZodObject;
  /** What is performed with {@link OfferedTool.inputOf} of what a caller gave. */
  readonly operation: Operation<z.ZodObject, ToolAnswer>;
  inputOf(given: unknown): unknown;
  asks(given: unknown): PermissionRequest | undefined;
}

/** Tells the names under which tools are offered. */
export function toolNames({ profile, prefix }: Pick<ToolChoice, 'profile' | 'prefix'>): (tool: string) => string {
  return (tool) => {
    const renamed = AGENT_TOOLS.find(({ name }) => name === tool)?.roadmap?.name;
    return `${prefix}${profile === 'roadmap' ? (renamed ?? tool) : tool}`;
  };
}

/** The tools of a profile, with the names and arguments they have there. */
export function offeredTools({ profile, prefix, sandbox, setting }: ToolChoice): readonly OfferedTool[] {
  const nameOf = toolNames({ profile, prefix });
  const words = { ...setting, profile, nameOf };
  return AGENT_TOOLS.filter(
    (one) =>
      one.profiles.includes(profile) &&
      (!one.isOptional || setting.git) &&
      (sandbox === undefined || 'sandbox' in one.input.shape),
  ).map((one) => {
    const renamed = profile === 'roadmap' ? one.roadmap : undefined;
    const name = nameOf(one.name);
    const input = (renamed?.needsMessage ?? false) || setting.requireMessage ? withMessage(one.input) : one.input;
    const inputOf = (given: unknown) => {
      const meant = withoutNulls(given, sandbox === undefined ? input : input.partial({ sandbox: true }));
      return sandbox === undefined ? meant : bound(meant, sandbox);
    };
    const named = { ...one, name, input };
    const operation =
      setting.place !== undefined && 'workdir' in one.input.shape ? placedOperation(named, setting.place) : named;
    const { title, effect, isIdempotent, isOpenWorld, facts } = one;
    return {
      name,
      title,
      effect,
      isIdempotent,
      isOpenWorld,
      ...(facts && { facts }),
      description: one.describe(words),
      input: sandbox === undefined ? input : input.omit({ sandbox: true }),
      operation: sandbox === undefined ? operation : boundOperation(operation),
      asks(given) {
        const asked = inputOf(given);
        return isObject(asked) ? one.asks?.(asked) : undefined;
      },
      inputOf,
    };
  });
}

function isObject(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

/** Some clients send null for what they leave out. */
function withoutNulls(given: unknown, { shape }: z.ZodObject): unknown {
  if (given === null || given === undefined) return {};
  if (!isObject(given)) return given;
  const isLeftOut = (key: string) => given[key] === null && Object.hasOwn(shape, key) && isOptional(shape[key]);
  return Object.fromEntries(Object.entries(given).filter(([key]) => !isLeftOut(key)));
}

const isOptional = (field: unknown): boolean => (field as z.ZodType).safeParse(undefined).success;

function withMessage(input: z.ZodObject): z.ZodObject {
  const message: unknown = input.shape['message'];
  if (!(message instanceof z.ZodOptional)) return input;
  const mandatory = message.unwrap() as z.ZodType;
  return input.extend({ message: mandatory.describe(message.description ?? '') });
}

function bound(given: unknown, only: string): unknown {
  return isObject(given) ? { ...given, sandbox: boundSandbox(only, given['sandbox']) } : given;
}
