import { afterAll, describe, it } from '@jest/globals';
import { describeLoopback } from '@litterbox/conformance';
import { openFarHost } from '@litterbox/far-host';
import { ShellsOfThisMachine } from './shells-of-this-machine.ts';

describeLoopback({
  name: 'a machine behind one shell',
  runner: { describe, it, afterAll },
  open: () => openFarHost({ name: 'far', connect: async () => new ShellsOfThisMachine() }),
  leavesNamespace: false,
});
