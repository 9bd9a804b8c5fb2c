import { CALL_VARIABLE } from '@litterbox/core/provider';

/** The environment of programs that are the provider's own. */
export const OWN_ENVIRONMENT = {
  PATH: '/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin',
  LC_ALL: 'C',
  TZ: 'UTC0',
  [CALL_VARIABLE]: 'infrastructure',
};
