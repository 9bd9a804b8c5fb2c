import { type Host, LitterboxError } from '@litterbox/core/provider';
import { jsonLines } from './json-lines.ts';
import { openByConfig } from './open-by-config.ts';
import { failed } from './program-failed.ts';
import { hostOf } from './host-of.ts';
import { startMachine } from './start-machine.ts';
import { stateOf } from './state-of.ts';
import { VmProgram } from './vm-program.ts';
import type { Way } from './way.ts';

/**
 * Machines of Colima, which calls them profiles, over SSH.
 *
 * @param here this computer
 * @see https://github.com/abiosoft/colima/blob/main/cmd/list.go and `cmd/ssh-config.go` beside it
 */
export function colima(here: Host): Way {
  const program = new VmProgram(here, 'colima');
  return {
    name: 'colima',
    title: 'Colima',
    setup: (machine) => `brew install colima && colima start --profile ${machine}`,

    async list(options) {
      const answer = await program.ask(['list', '--json'], options);
      if (!answer) return undefined;
      if (answer.code !== 0) throw failed(program.name, 'list --json', answer);
      return jsonLines(program.name, answer.stdout).map(({ name, status }) => ({
        name,
        state: stateOf(status),
        says: status,
      }));
    },

    start: ({ name }, options) => startMachine(program, ['start', '--profile', name], hostOf('colima', name), options),

    async open({ name }, options) {
      const answer = await program.ask(['ssh-config', '--profile', name], options);
      if (!answer) throw gone();
      if (answer.code !== 0) throw failed(program.name, `ssh-config --profile ${name}`, answer);
      return await openByConfig(program.name, new TextDecoder().decode(answer.stdout), options);
    },
  };
}

const gone = () =>
  new LitterboxError('TOOL_MISSING', 'colima is not installed any more.', {
    operation: 'host.open',
    hint: 'brew install colima',
  });
