import type { LitterboxErrorCode } from '../../domain/errors/errors.ts';
import { shown } from '../../domain/text/shown.ts';

/** Linux takes one text of at most 128 KiB into a new process; a quarter leaves room for the name and for others. */
const MAX_VALUE_CHARACTERS = 32 * 1024;

/**
 * Variables that decide what code a program loads or where our own tools look, and those that Litterbox sets itself.
 * A setup command can set them for its children; a configuration cannot set them for every command.
 */
const RESERVED = new Set(
  (
    'PATH HOME USER LOGNAME SHELL PWD OLDPWD TMPDIR TERM HOSTNAME IFS ENV SHLVL BASH_ENV BASHOPTS SHELLOPTS PS4 ' +
    'PROMPT_COMMAND CDPATH GLOBIGNORE NODE_OPTIONS PERL5OPT PERL5LIB PYTHONSTARTUP PYTHONHOME RUBYOPT ' +
    'JAVA_TOOL_OPTIONS GCONV_PATH LOCPATH'
  ).split(' '),
);
const RESERVED_PREFIXES = ['LD_', 'DYLD_', 'GIT_', 'LITTERBOX_', 'BASH_FUNC_'];

/** Whether a variable of that name belongs to the system or to Litterbox. */
export function isReservedVariable(name: string): boolean {
  return RESERVED.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

export interface VariableProblem {
  readonly code: LitterboxErrorCode;
  readonly reason: string;
  readonly hint: string;
}

/** Why the variable cannot be set for every command, or nothing. One rule for the configuration, the command line and the library. */
export function variableProblem(name: string, value: string): VariableProblem | undefined {
  if (!isReservedVariable(name)) return callVariableProblem(name, value);
  const reason = `${name} is reserved: it decides what other programs load, or Litterbox sets it`;
  return { code: 'ENV_RESERVED', reason, hint: 'Set it inside the command instead: sh -c "NAME=value program".' };
}

/** The same for one command, whose caller could set what is reserved inside it anyway. */
export function callVariableProblem(name: string, value: string): VariableProblem | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) {
    const reason = `${shown(name)} is not the name of a variable, want letters, digits and _, not starting with a digit`;
    return { code: 'ENV_NAME', reason, hint: 'Rename the variable.' };
  }
  if (value.includes('\0')) {
    return { code: 'ENV_VALUE', reason: `the value of ${name} holds a NUL character`, hint: 'Remove it.' };
  }
  if (value.length > MAX_VALUE_CHARACTERS) {
    const reason = `the value of ${name} has ${value.length} characters, at most ${MAX_VALUE_CHARACTERS} are possible`;
    return { code: 'ENV_VALUE', reason, hint: 'Put it into a file of the repository and name that file.' };
  }
  return undefined;
}
