import tab from '@bomb.sh/tab/commander';
import { listSandboxes } from '@litterbox/core';
import type { Command } from 'commander';
import { loadLitterbox } from '../load-litterbox.ts';

/** In place of that of the package, which needs Debian's bash-completion, cannot be read twice, and evaluates what has been typed. */
const BASH = `# bash completion for litterbox
__litterbox_complete() {
    local cur=\${COMP_WORDS[COMP_CWORD]} line directive=0
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :* ]]; then
            directive=\${line#:}
        elif [[ \${line%%$'\\t'*} == "$cur"* ]]; then
            COMPREPLY+=("\${line%%$'\\t'*}")
        fi
    done < <(litterbox complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if (( directive & 2 )); then compopt -o nospace; fi
    if (( directive & 4 )); then compopt +o default; fi
}
complete -o default -F __litterbox_complete litterbox
`;

/** Adds `completion SHELL`, which prints a script, and the hidden `complete` that the script asks back. */
export async function addCompletion(program: Command, isAsked: boolean, shell: string | undefined): Promise<void> {
  const completions = tab(program, { completionCommandName: 'completion' });
  if (!isAsked) {
    if (shell !== 'bash') return;
    const command = program.commands.find((one) => one.name() === 'completion');
    command?.action(() => void process.stdout.write(BASH));
    return;
  }
  await using litterbox = await loadLitterbox(process.cwd(), { approve: async () => false });
  const names = await litterbox.perform(listSandboxes, {}).catch(() => []); // outside a repository there is nothing to complete
  for (const command of completions.commands.values()) {
    const argument = command.arguments.get('name');
    if (argument) argument.handler = (add) => names.forEach(({ name, state }) => add(name, state));
  }
}
