import * as z from 'zod';
import { LitterboxError } from '../../domain/errors.ts';
import { slugify } from '../../domain/slug.ts';
import type { Operation } from '../operation.ts';
import { bash } from './bash.ts';
import { git } from './git.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { ls } from './ls.ts';
import { patch } from './patch.ts';
import { read } from './read.ts';
import { sandboxCreate } from './sandbox-create.ts';
import { sandboxList } from './sandbox-list.ts';
import { sandboxMilestone } from './sandbox-milestone.ts';
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
  read,
  write,
  patch,
  bash,
  ls,
  glob,
  grep,
  git,
];

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

/** The tools of a profile, with the names and arguments they have there. */
export function offeredTools({ profile, prefix, sandbox, setting }: ToolChoice): readonly OfferedTool[] {
  return AGENT_TOOLS.filter(
    (one) =>
      one.profiles.includes(profile) &&
      (!one.isOptional || setting.git) &&
      (sandbox === undefined || 'sandbox' in one.input.shape),
  ).map((one) => {
    const renamed = profile === 'roadmap' ? one.roadmap : undefined;
    const name = `${prefix}${renamed?.name ?? one.name}`;
    const input = (renamed?.needsMessage ?? false) || setting.requireMessage ? withMessage(one.input) : one.input;
    const inputOf = (given: unknown) => (sandbox === undefined ? given : bound(given, sandbox));
    const { title, effect, isIdempotent, isOpenWorld, facts } = one;
    return {
      name,
      title,
      effect,
      isIdempotent,
      isOpenWorld,
      ...(facts && { facts }),
      description: one.describe(setting),
      input: sandbox === undefined ? input : input.omit({ sandbox: true }),
      operation: { ...one, name, input },
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

function withMessage(input: z.ZodObject): z.ZodObject {
  const message: unknown = input.shape['message'];
  return message instanceof z.ZodOptional ? input.extend({ message: message.unwrap() as z.ZodType }) : input;
}

/** Another sandbox is not found, whether or not there is one of that name: who is bound to one learns of no other. */
function bound(given: unknown, sandbox: string): unknown {
  if (!isObject(given)) return given;
  const named = given['sandbox'];
  if (named !== undefined && (typeof named !== 'string' || slugify(named).slug !== slugify(sandbox).slug)) {
    throw new LitterboxError('SANDBOX_NOT_FOUND', `This server works in the sandbox ${sandbox} alone.`, {
      operation: 'sandbox.find',
      hint: 'Leave the argument sandbox out.',
    });
  }
  return { ...given, sandbox };
}
