import type * as z from 'zod';
import type { CommandShell } from '../../channel/command-shell.ts';
import type { NextStep } from '../../domain/errors/next-step.ts';
import type { Operation } from '../declare/operation.ts';
import type { ResourceLimits } from '../../domain/sandbox/resource-limits.ts';

/**
 * What a model gets back: text that it reads as it is, or facts as JSON. Never both: clients that get facts show the model
 * nothing else (measured with Claude Code and Codex).
 */
export type ToolAnswer =
  | {
      readonly type: 'text';
      /** What it reads, in parts: clients put them one after the other. */
      readonly text: readonly [string, ...string[]];
      /** What it sees after the text. */
      readonly image?: { readonly mimeType: string; readonly bytes: Uint8Array };
      /** For programs: exit code, revision and the like. JSON values only. */
      readonly meta: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'facts'; readonly facts: Readonly<Record<string, unknown>> };

/** What is in force where the agent works: descriptions are made of it. */
export interface ToolSetting {
  /** Rules of what programs inside may reach. Empty: nothing. */
  readonly reachable: readonly string[];
  /** For commands without one of their own. */
  readonly timeoutMs: number;
  /** Calls that change files need a message. */
  readonly requireMessage: boolean;
  /** What runs the text of a command in the one sandbox that is worked in. Absent when there are several, or it cannot be told. */
  readonly shell?: CommandShell;
  /** Absolute path inside every sandbox. */
  readonly playground: string;
  /** Where commands begin, relative to the workspace; at its top when absent. */
  readonly place?: string | undefined;
  /** The configured names of the tools. */
  readonly profile: ToolProfile;
  /** Whether the tool `git` is offered. */
  readonly git: boolean;
  /** Whether git finds a repository in the workspace. */
  readonly hasRepository: boolean;
  /** What all programs of a sandbox may use together. */
  readonly limits: Pick<ResourceLimits, 'cpus' | 'memoryBytes'>;
}

/** A setting, and how tools are called in it. */
export interface ToolWords extends ToolSetting {
  /** The name under which a tool is offered. */
  nameOf(tool: string): string;
}

/** What only a person may allow, for one call. */
export interface PermissionRequest {
  /** The question, for a person who sees nothing else of the call. */
  readonly question: string;
  /** The command for a person where the agent's program cannot ask. */
  readonly otherwise: NextStep;
}

/** Something an agent may ask for: an operation with words for a model. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> extends Operation<Input, ToolAnswer> {
  /** A few words for a person who is asked to allow it. */
  readonly title: string;
  /** Calling it again with the same input changes nothing more. */
  readonly isIdempotent: boolean;
  /** Reaches out of the sandbox. */
  readonly isOpenWorld: boolean;
  /** Offered only where the configuration says so. */
  readonly isOptional: boolean;
  /** All that a model learns of it but for its arguments. */
  describe(words: ToolWords): string;
  /** What of a call needs a person's yes. Gets what the caller gave, unchecked. */
  asks?(given: Readonly<Record<string, unknown>>): PermissionRequest | undefined;
  /** The shape of its facts, when it answers with facts. */
  readonly facts?: z.ZodObject;
  /** In the profile `roadmap`: its name there, and whether its `message` is mandatory. Absent: not in that profile, or as it is. */
  readonly roadmap?: { readonly name: string; readonly needsMessage: boolean };
  readonly profiles: readonly ToolProfile[];
}

/** A set of names for the tools of agents. */
export type ToolProfile = 'standard' | 'roadmap';

type Defaulted = 'isOpenWorld' | 'isOptional' | 'profiles';
type Declared<Input extends z.ZodObject> = Omit<Tool<Input>, Defaulted> & Partial<Pick<Tool<Input>, Defaulted>>;

/** Infers the input of a tool from its members. */
export function tool<Input extends z.ZodObject>(declared: Declared<Input>): Tool<Input> {
  return { isOpenWorld: false, isOptional: false, profiles: ['standard'], ...declared };
}
