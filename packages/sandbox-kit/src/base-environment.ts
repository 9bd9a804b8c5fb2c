import { INSIDE } from '@litterbox/core/provider';

/**
 * Below the home, where pip, pipx, uv, Cargo, Go, npm (with the prefix that its own guide tells users to set), Bun, Deno and .NET put programs
 * that a user installs. They are looked at last: what is there shall replace none of the machine's programs or the image's.
 */
const HOME_PROGRAMS = [
  '.local/bin',
  '.cargo/bin',
  'go/bin',
  '.npm-global/bin',
  '.bun/bin',
  '.deno/bin',
  '.dotnet/tools',
];

/**
 * The environment of processes inside when nobody said otherwise, the same with every provider; the caller's own goes over it.
 *
 * @param path directories of programs, as PATH is written; those of the home come behind them
 */
export function baseEnvironment(slug: string, path: string): Readonly<Record<string, string>> {
  return {
    PATH: [path, ...HOME_PROGRAMS.map((name) => `${INSIDE.home}/${name}`)].join(':'),
    HOME: INSIDE.home,
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    LITTERBOX_SANDBOX: slug,
    LITTERBOX_PLAYGROUND: INSIDE.playground,
    LITTERBOX_CALL: 'infrastructure',
  };
}
