/** The environment of programs that look for a runtime: where an image keeps its programs, and nothing a user set. */
export const LOOKING_ENVIRONMENT = {
  PATH: '/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin',
  LC_ALL: 'C',
  TZ: 'UTC0',
};
