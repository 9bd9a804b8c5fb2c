import { expect, test } from '@jest/globals';
import { bashCall } from './bash-call.ts';

// As Claude Code 2.1.328 sends it.
const BEFORE = String.raw`source /home/me/.claude/shell-snapshots/snapshot-bash-1795806477422-i87ufk.sh 2>/dev/null || true && { \builtin shopt -u extglob || \builtin setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL NO_BRACE_CCL NO_MAGIC_EQUAL_SUBST NO_EQUALS; } >/dev/null 2>&1 || true && { \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && `;
const AFTER = ' < /dev/null && pwd -P >| /tmp/claude-9ed0-cwd';

test.each([
  ['ls', 'ls'],
  [`'npm test'`, 'npm test'],
  [`'echo '"'"'it'"'"'\\'"'"''"'"'s'"'"' "$HOME" | cat'`, `echo 'it'\\''s' "$HOME" | cat`],
  [`'mkdir -p sub && cd sub\npwd'`, 'mkdir -p sub && cd sub\npwd'],
  [`"echo \\"a\\" \\$b"`, 'echo "a" $b'],
  [
    `'echo && eval b < /dev/null && pwd -P >| /tmp/claude-1-cwd'`,
    'echo && eval b < /dev/null && pwd -P >| /tmp/claude-1-cwd',
  ],
])('finds the command in %s', (word, command) => {
  expect(bashCall(`${BEFORE}eval ${word}${AFTER}`)).toEqual({
    command,
    script: `eval ${word} < /dev/null && pwd -P >| `,
    directoryFile: '/tmp/claude-9ed0-cwd',
  });
});

test('FC-332: finds a command with backticks, which stands behind a guard', () => {
  const guard = String.raw`{ case "${'${BASH_VERSINFO-}'}" in '2'|'3') \builtin printf '%s\n' '__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='"${'${BASH_VERSION-}'}" >&2; \builtin exit 126; \exit 126;; esac; } && `;
  const word = "'echo `pwd`'";
  expect(bashCall(`${guard}${BEFORE}eval ${word}${AFTER}`)).toEqual({
    command: 'echo `pwd`',
    script: `eval ${word} < /dev/null && pwd -P >| `,
    directoryFile: '/tmp/claude-9ed0-cwd',
  });
  expect(bashCall(`{ ls; } && ${BEFORE}eval ${word}${AFTER}`)).toBeUndefined();
});

test('finds a command that has its own input', () => {
  const text = `${BEFORE}eval 'cat <<'"'"'EOF'"'"'\nit is\nEOF' && pwd -P >| /tmp/claude-494f-cwd`;
  expect(bashCall(text)?.command).toBe(`cat <<'EOF'\nit is\nEOF`);
});

test.each([
  'npx prettier --write .',
  `${BEFORE}eval ls`,
  `${BEFORE}eval 'ls${AFTER}`,
  `${BEFORE}eval $(ls)${AFTER}`,
  `${BEFORE}eval ls${AFTER}; more`,
  `${BEFORE}eval ls < /dev/null && pwd -P >| /tmp/claude-../x-cwd`,
  `${BEFORE}eval ls < /dev/null && pwd -P >| /home/me/claude-9ed0-cwd`,
  `eval ls${AFTER}`,
])('takes nothing else for a call: %s', (text) => {
  expect(bashCall(text)).toBeUndefined();
});
