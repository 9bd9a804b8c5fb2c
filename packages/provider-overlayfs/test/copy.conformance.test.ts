import type { Host } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { runConformance } from './run-conformance.ts';

/** A machine without Perl, where every scan starts a program. */
const local = localHost();
const withoutPerl: Host = {
  name: local.name,
  files: local.files,
  facts: (...args) => local.facts(...args),
  connect: (...args) => local.connect(...args),
  spawn: ({ argv: [program, ...args], ...spec }, call) =>
    local.spawn(
      { ...spec, argv: [program, ...args.map((text) => text.replaceAll("'perl'", "'no-such-program'"))] },
      call,
    ),
  [Symbol.asyncDispose]: () => local[Symbol.asyncDispose](),
};

await runConformance('copy', withoutPerl, 'overlayfs, copy, on a machine without Perl');
