// The processors of a sandbox: nothing inside leaves those that root gave it, and they are free again at its end.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { collected, eventually } from '@litterbox/conformance';
import { SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { Fixture } from '@litterbox/testing';
import { overlayfs } from '../src/index.ts';
import { backendDirectory, isRoot, removeBackend } from './backends.ts';
import { sandboxSpec } from './sandbox-spec.ts';

const hasGroups = isRoot && /\scpuset\s/.test(readFileSync('/proc/cgroups', 'utf8'));

describe('the processors of a sandbox', () => {
  it('are its own from the start of a session to its end, and as root it cannot leave them', async () => {
    await using fixture = new Fixture();
    const directory = await backendDirectory('copy');
    fixture.defer(() => removeBackend(directory));
    const provider = overlayfs({ host: localHost(), facts: await localHost().facts(), directory, strategy: 'copy' });
    const id = SandboxId.make();
    const runtime = await provider.create(sandboxSpec(id, { limits: { cpus: 1 }, allowDegraded: true }));
    fixture.defer(async () => {
      await runtime[Symbol.asyncDispose]();
      await provider.remove(id);
    });
    const note = join(directory, 'overlayfs/sandboxes', id, 'processors');
    expect(readFileSync(note, 'utf8')).toMatch(/^\d+\n$/);
    const all = await collected(await localHost().spawn({ argv: ['nproc', '--all'] }));
    const script = `taskset -pc 0-${Number(all.stdout) - 1} $$ >/dev/null; nproc`;
    const { stdout } = await collected(await runtime.spawn({ argv: ['sh', '-c', script] }));
    expect(stdout).toBe(hasGroups ? '1\n' : all.stdout);
    await runtime.stop();
    await eventually(
      async () => existsSync(note),
      (isThere) => !isThere,
    );
  });
});
