import { INSIDE } from '@litterbox/core/provider';

/**
 * Files of `/etc` by name that tell programs who they run as and what localhost is. Images and engines do not tell, and the host's
 * own are nobody's business.
 *
 * @param user who programs are, as they see it inside
 */
export function ownNames(user: {
  readonly uid: number;
  readonly gid: number;
}): Readonly<Record<'passwd' | 'group' | 'hosts', string>> {
  return {
    passwd: `root:x:0:0:root:/root:/usr/sbin/nologin
agent:x:${user.uid}:${user.gid}:agent:${INSIDE.home}:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`,
    group: `root:x:0:\nagent:x:${user.gid}:\nnogroup:x:65534:\n`,
    hosts: '127.0.0.1 localhost sandbox\n::1 localhost sandbox ip6-localhost ip6-loopback\n',
  };
}
