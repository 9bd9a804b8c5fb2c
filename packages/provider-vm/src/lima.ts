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
 * Machines of Lima, over SSH.
 *
 * @param here this computer
 * @see https://lima-vm.io/docs/reference/limactl_list/ and https://lima-vm.io/docs/reference/limactl_show-ssh/
 */
export function lima(here: Host): Way {
  const limactl = new VmProgram(here, 'limactl');
  return {
    name: 'lima',
    title: 'Lima',
    setup: (machine) => `brew install lima && limactl start --name=${machine}`,

    async list(options) {
      const answer = await limactl.ask(['list', '--json'], options);
      if (!answer) return undefined;
      if (answer.code !== 0) throw failed(limactl.name, 'list --json', answer);
      // Colima keeps its machines in Lima, and in a directory of its own since 0.5; those before are told by their names.
      return jsonLines(limactl.name, answer.stdout)
        .filter(({ name }) => name !== 'colima' && !name.startsWith('colima-'))
        .map(({ name, status }) => ({ name, state: stateOf(status), says: status }));
    },

    // --tty=false: without it a person is asked about the configuration.
    start: ({ name }, options) => startMachine(limactl, ['start', '--tty=false', name], hostOf('lima', name), options),

    async open({ name }, options) {
      const answer = await limactl.ask(['show-ssh', '--format=config', name], options);
      if (!answer) throw gone();
      if (answer.code !== 0) throw failed(limactl.name, `show-ssh ${name}`, answer);
      return await openByConfig(limactl.name, new TextDecoder().decode(answer.stdout), options);
    },
  };
}

const gone = () =>
  new LitterboxError('TOOL_MISSING', 'limactl is not installed any more.', {
    operation: 'host.open',
    hint: 'brew install lima',
  });
