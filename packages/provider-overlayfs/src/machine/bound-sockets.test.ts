import { describe, expect, it } from '@jest/globals';
import { boundSockets } from './bound-sockets.ts';

const TABLE = `Num       RefCount Protocol Flags    Type St Inode Path
0000000012345678: 00000002 00000000 00010000 0001 01   721 /usr/local/var/run/watch man.sock
0000000012345679: 00000002 00000000 00010000 0001 01   722 @/usr/abstract
000000001234567a: 00000003 00000000 00000000 0001 03   723
000000001234567b: 00000003 00000000 00000000 0001 03   724 /usr/local/var/run/watch man.sock
000000001234567c: 00000002 00000000 00010000 0005 01     7 /run/udev/control
000000001234567d: 00000002 00000000 00010000 0001 01   726 relative.sock
000000001234567e: 00000002 00000000 00010000 0001 01   727 /usr2/socket
000000001234567f: 00000002 00000000 00010000 0001 01   728 /usr/../run/socket
0000000012345680: 00000002 00000000 00010000 0001 01   729 /lib64/socket
`;

describe('boundSockets', () => {
  it('finds the paths below the directories, each once', () => {
    expect(boundSockets(TABLE, ['/usr', '/lib64'])).toEqual(['/usr/local/var/run/watch man.sock', '/lib64/socket']);
  });

  it('finds nothing in an empty table', () => {
    expect(boundSockets('', ['/usr'])).toEqual([]);
  });
});
