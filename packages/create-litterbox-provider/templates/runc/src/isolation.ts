import { type Host, type ProbeCheck, quoted } from '@litterbox/core/provider';
import { type Isolation, runScript } from '@litterbox/linux-sandbox';
import { bundle } from './bundle.ts';

/** Who programs inside are on the host: a number that belongs to no account of the machine. */
const USER = { uid: 61200, gid: 61200 };

/** Shell text: runc, with what it knows of a sandbox's container kept in that sandbox's own directory. */
const runc = ({ directory }: { readonly directory: string }) => `runc --root ${quoted(`${directory}/own-runc`)}`;

/** How a place is started, frozen and ended: by runc, with the programs of this machine. The kit says what is missing. */
export const isolation: Isolation = {
  name: '{{name}}',
  isolation: 'container',
  limits: ['memoryBytes', 'cpus', 'processes', 'openFiles'],
  hasOwnUsers: false,
  user: USER,

  async checks(host: Host, call) {
    const { uid } = await host.facts(call);
    const { code } = await runScript(host, 'command -v runc && command -v flock && command -v setpriv', call);
    const check = (name: string, isFine: boolean, finding: string, remedy: string): ProbeCheck =>
      isFine ? { name, status: 'ok', finding } : { name, status: 'failed', finding, remedy };
    return [
      check('user', uid === 0, `programs run as user ${uid}`, 'Run it as root: its containers are made by root.'),
      check('tools', code === 0, `runc is ${code === 0 ? '' : 'not '}there`, 'apt-get install runc util-linux'),
    ];
  },

  async mechanism(host, call) {
    const { stdout } = await runScript(host, 'runc --version', call);
    return stdout.split('\n')[0] ?? 'runc';
  },

  // It stays until the first process of the container has ended, as it should.
  start: (
    place,
  ) => `mkdir -p own-bundle && printf %s ${quoted(JSON.stringify(bundle(place, USER)))} >own-bundle/config.json || exit 1
exec ${runc(place)} run --bundle own-bundle ${place.id}`,

  // runc refuses to freeze what is frozen: it is asked first.
  freeze(place, isFrozen) {
    const [state, verb] = isFrozen ? ['running', 'pause'] : ['paused', 'resume'];
    return `case $(${runc(place)} state ${place.id} 2>&1) in *'"status": "${state}"'*) ${runc(place)} ${verb} ${place.id} ;; esac`;
  },

  clean: (place) => `! command -v runc >/dev/null || ${runc(place)} delete --force ${place.id}`,
};
