import { isWorkdir, normalPath } from './normal-path.ts';
import { Refused, refusedValue, setting } from './setting.ts';

/** Where the workspace cannot be, for messages. */
export const NO_WORKDIR =
  'other than /, /home, /run, /usr and /usr/local, and not below /proc, /sys, /dev, /home/agent, /playground, /run/litterbox or where programs are, such as /usr/bin, /lib and /etc';

/** A key that takes the path of the workspace inside. */
export function workdirPath(description: string) {
  return setting({ type: 'string', examples: ['/src'], description }, (value): string | Refused => {
    const path = typeof value === 'string' ? normalPath(value) : undefined;
    const hint = 'Write workdir = "/src", for example.';
    if (path === undefined) {
      const code = typeof value === 'string' ? 'CONFIG_VALUE' : 'CONFIG_TYPE';
      return refusedValue(code, value, 'an absolute path', hint);
    }
    if (isWorkdir(path)) return path;
    return refusedValue('WORKDIR_FORBIDDEN', value, `a path ${NO_WORKDIR}`, hint);
  });
}

/** A key that takes a directory of the host. */
export function hostDirectory(description: string) {
  return setting({ type: 'string', description }, (value): string | Refused => {
    const path = typeof value === 'string' ? normalPath(value) : undefined;
    if (path !== undefined && path !== '/') return path;
    const code = typeof value === 'string' ? 'CONFIG_VALUE' : 'CONFIG_TYPE';
    return refusedValue(code, value, 'the absolute path of a directory, not /', 'Write the whole path, without ~.');
  });
}
