import { quoted } from '../channel/shell-text.ts';
import type { ServicePolicy, SupervisorName } from '../domain/sandbox/policy.ts';
import { wholeSeconds } from './whole-seconds.ts';

/** A file that a supervisor reads, relative to its directory. */
export interface SupervisorFile {
  readonly path: string;
  readonly text: string;
  readonly isExecutable: boolean;
}

/**
 * How one supervisor of the image is told what to do. Scripts run in a POSIX `sh` inside, `$D` is its directory and `$1` a service.
 *
 * - `up`: starts it; `down`: ends it as its policy says, and waits, `$2` seconds at most;
 * - `look`: a line for each, its name and one word: `up`; `waiting` when it will be started again; `down` when it will not;
 *   `failed` when it was given up. `$@` are all services.
 */
export interface Supervisor {
  /** Programs without which it cannot be used. */
  readonly programs: readonly [string, ...string[]];
  /** Runs it in the foreground. Returns at once when it cannot start. */
  readonly run: string;
  /** Succeeds when it can be told something about a service. */
  readonly isReady: string;
  readonly up: string;
  readonly down: string;
  readonly look: string;
  files(directory: string, services: readonly ServicePolicy[]): readonly SupervisorFile[];
}

/** What starts a service, the same for all: `services/NAME/run`. */
export const runFile = (name: string) => `services/${name}/run`;

const file = (path: string, text: string, isExecutable = false): SupervisorFile => ({ path, text, isExecutable });

/**
 * A `finish` script: notes how the last run ended, and gives up where the policy says so.
 *
 * @param giveUp what tells the supervisor not to start it again
 */
function finish(directory: string, { name, restart }: ServicePolicy, giveUp: string): string {
  const note = `printf '%s %s\\n' "$1" "$2" >${quoted(`${directory}/${name}.last`)}`;
  const rule = { always: ':', 'on-failure': `[ "$1" != 0 ] || ${giveUp}`, never: giveUp }[restart];
  return `#!/bin/sh\n${note}\n${rule}\n`;
}

/** runit: http://smarden.org/runit/runsv.8.html and sv.8.html. */
const runit: Supervisor = {
  programs: ['runsvdir', 'runsv', 'sv'],
  run: 'exec runsvdir "$D/services"',
  isReady: '[ -p "$D/services/$1/supervise/ok" ]',
  up: 'sv up "$D/services/$1" >/dev/null',
  down: 'sv -w "$2" force-stop "$D/services/$1" >/dev/null',
  look: `for lb_n do
case $(sv status "$D/services/$lb_n") in
  run:*) echo "$lb_n up" ;;
  finish:* | down:*'want up'*) echo "$lb_n waiting" ;;
  down:*) echo "$lb_n down" ;;
  *) echo "$lb_n failed" ;;
esac
done`,
  files: (directory, services) =>
    services.flatMap((service) => [
      file(`services/${service.name}/down`, ''),
      file(`services/${service.name}/finish`, finish(directory, service, 'printf d >supervise/control'), true),
      // Stands in for SIGTERM; runsv itself sends SIGCONT, and `sv force-stop` SIGKILL when its time is over.
      file(
        `services/${service.name}/control/t`,
        `#!/bin/sh\nread -r pid <supervise/pid && kill -s ${service.signals.stop.slice(3)} "$pid"\n`,
        true,
      ),
    ]),
};

/** s6: https://skarnet.org/software/s6/servicedir.html and s6-svc.html. */
const s6: Supervisor = {
  programs: ['s6-svscan', 's6-supervise', 's6-svc', 's6-svstat', 's6-svok'],
  run: 'exec s6-svscan "$D/services"',
  isReady: 's6-svok "$D/services/$1"',
  up: 's6-svc -wu -T 5000 -u "$D/services/$1"',
  down: 's6-svc -wD -T "$(($2 * 1000 + 5000))" -d "$D/services/$1"',
  look: `for lb_n do
case $(s6-svstat -o up,wantedup "$D/services/$lb_n") in
  'true '*) echo "$lb_n up" ;;
  'false true') echo "$lb_n waiting" ;;
  'false '*) echo "$lb_n down" ;;
  *) echo "$lb_n failed" ;;
esac
done`,
  files: (directory, services) =>
    services.flatMap((service) => [
      file(`services/${service.name}/down`, ''),
      file(`services/${service.name}/finish`, finish(directory, service, 'exit 125'), true),
      file(`services/${service.name}/down-signal`, `${service.signals.stop}\n`),
      file(`services/${service.name}/timeout-kill`, `${service.stopTimeoutMs}\n`),
    ]),
};

/**
 * supervisord tells nobody how a program ended, and takes one that ends within `startsecs` for one that has not started, even with
 * 0. So it runs this around it. What it signals is the whole group. (In the background a program would be deaf to SIGINT.)
 */
const KEEP = `#!/bin/sh
trap : HUP INT QUIT TERM USR1 USR2
sh "$1/services/$2/run"
code=$?
echo "$code 0" >"$1/$2.last"
[ $code != 0 ] || sleep 1
exit $code
`;

/** supervisord: http://supervisord.org/configuration.html. It starts a program that failed at once again after 1 s, 2 s, 3 s … */
const supervisord: Supervisor = {
  programs: ['supervisord', 'supervisorctl'],
  run: 'exec supervisord -n -c "$D/supervisord.conf"',
  isReady: 'supervisorctl -c "$D/supervisord.conf" pid >/dev/null 2>&1',
  up: 'supervisorctl -c "$D/supervisord.conf" start "$1" >/dev/null 2>&1',
  down: 'supervisorctl -c "$D/supervisord.conf" stop "$1" >/dev/null 2>&1',
  look: `supervisorctl -c "$D/supervisord.conf" status | while read -r lb_n lb_s lb_rest; do
case $lb_s in
  RUNNING | STARTING) echo "$lb_n up" ;;
  BACKOFF) echo "$lb_n waiting" ;;
  STOPPED | STOPPING | EXITED) echo "$lb_n down" ;;
  *) echo "$lb_n failed" ;;
esac
done`,
  files(directory, services) {
    const at = (path: string) => `${directory}/${path}`.replaceAll('%', '%%');
    // No program inside may make a socket of a file; a port that is taken is another one with the next start.
    const server = `127.0.0.1:${20_000 + ((crypto.getRandomValues(new Uint16Array(1))[0] ?? 0) >> 1)}`;
    const password = crypto.randomUUID();
    const programs = services.map(
      ({ name, restart, signals, stopTimeoutMs }) => `
[program:${name}]
command=/bin/sh "${at('keep')}" "${at('.').slice(0, -2)}" ${name}
autostart=false
autorestart=${{ always: 'true', 'on-failure': 'unexpected', never: 'false' }[restart]}
exitcodes=0
startsecs=${restart === 'never' ? 0 : 1}
startretries=1000000
stopsignal=${signals.stop.slice(3)}
stopwaitsecs=${wholeSeconds(stopTimeoutMs)}
stopasgroup=true
killasgroup=true
stdout_logfile=NONE
stderr_logfile=NONE
`,
    );
    return [
      file('keep', KEEP),
      file(
        'supervisord.conf',
        `[supervisord]
logfile=/dev/null
logfile_maxbytes=0
pidfile=${at('supervisord.pid')}
identifier=litterbox

[inet_http_server]
port=${server}
username=litterbox
password=${password}

[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface

[supervisorctl]
serverurl=http://${server}
username=litterbox
password=${password}
${programs.join('')}`,
      ),
    ];
  },
};

/** Those of `container.supervisor` that come with the image. */
export const SUPERVISORS: Readonly<Record<SupervisorName, Supervisor>> = { supervisord, s6, runit };
