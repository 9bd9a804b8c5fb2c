import type { Host } from '@litterbox/core/provider';
import { openFarHost } from '@litterbox/far-host';
import { hostOf } from './host-of.ts';
import { startMachine } from './start-machine.ts';
import { VmProgram } from './vm-program.ts';
import type { Way } from './way.ts';
import { wslList } from './wsl-list.ts';
import { wslText } from './wsl-text.ts';
import { WslTransport } from './wsl-transport.ts';

/**
 * Distributions of WSL2, by shells that `wsl.exe` starts: nothing of SSH, and no key.
 *
 * @param here this computer
 * @see https://learn.microsoft.com/windows/wsl/basic-commands
 */
export function wsl(here: Host): Way {
  const program = new VmProgram(here, 'wsl.exe');
  return {
    name: 'wsl',
    title: 'WSL2',
    setup: (machine) => `wsl --install --distribution ${machine}`,

    async list(options) {
      const answer = await program.ask(['--list', '--verbose'], options);
      if (!answer) return undefined;
      // It ends with -1, in words of the system's language, when there is none.
      if (answer.code !== 0) return [];
      return wslList(wslText(answer.stdout));
    },

    start: ({ name }, options) =>
      startMachine(program, ['--distribution', name, '--exec', '/bin/true'], hostOf('wsl', name), options),

    async open({ name }, { signal }) {
      const connect = async () => new WslTransport(program, name);
      const host = await openFarHost({ name: hostOf('wsl', name), connect }, { ...(signal && { signal }) });
      return { host, acceptedKeys: [] };
    },
  };
}
