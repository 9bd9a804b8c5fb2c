import { INSIDE } from '@litterbox/core/provider';

/** The environment of processes inside when nobody said otherwise, the same with every provider; the caller's own goes over it. */
export function baseEnvironment(slug: string, path: string): Readonly<Record<string, string>> {
  return {
    PATH: path,
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
