/** A part of a word: text, a parameter, the output of commands, or a sum. */
export type WordPart =
  | { readonly type: 'text'; readonly text: string; readonly isQuoted: boolean }
  | {
      readonly type: 'parameter';
      readonly name: string;
      /** `:-`, `%`, `#` and the like. */
      readonly operator?: string;
      readonly operand?: Word;
      readonly isQuoted: boolean;
    }
  | { readonly type: 'commands'; readonly list: List; readonly isQuoted: boolean }
  | { readonly type: 'sum'; readonly text: Word; readonly isQuoted: boolean };

export type Word = readonly WordPart[];

export interface Redirection {
  readonly fd: number;
  readonly operator: '<' | '>' | '>>' | '<&' | '>&';
  readonly target: Word;
}

/** One command of any kind. */
export type Command = { readonly redirections: readonly Redirection[] } & (
  | {
      readonly type: 'simple';
      readonly assignments: readonly (readonly [name: string, value: Word])[];
      readonly words: readonly Word[];
    }
  | { readonly type: 'subshell' | 'group'; readonly list: List }
  | { readonly type: 'if'; readonly branches: readonly (readonly [List, List])[]; readonly otherwise?: List }
  | { readonly type: 'while'; readonly isUntil: boolean; readonly condition: List; readonly body: List }
  | { readonly type: 'for'; readonly name: string; readonly words?: readonly Word[]; readonly body: List }
  | { readonly type: 'case'; readonly word: Word; readonly items: readonly (readonly [readonly Word[], List])[] }
  | { readonly type: 'function'; readonly name: string; readonly body: Command }
);

export interface Pipeline {
  readonly isNegated: boolean;
  readonly commands: readonly Command[];
}

/** Pipelines joined by `&&` and `||`. */
export interface Chain {
  readonly first: Pipeline;
  readonly rest: readonly (readonly [operator: '&&' | '||', pipeline: Pipeline])[];
  readonly isBackground: boolean;
}

export type List = readonly Chain[];
