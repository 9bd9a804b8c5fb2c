// npm run docs:matrix: runs the whole kit on every backend of this machine and writes docs/capabilities.json and the table of docs/capabilities.md.
// Needs the test host (tools/test-host.sh up) and takes a few minutes for each backend. As root, as CI runs the kit.
// Usage: measure-capabilities.mjs [NAME...] measures those again whose name begins so and keeps the others.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureProvider } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { docker } from '@litterbox/provider-docker';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { podman } from '@litterbox/provider-podman';
import { MEASURES, PAGE, pageWithTable } from './capability-table.mjs';

const BASE = '/var/lib/litterbox-test';
const host = localHost();
const facts = await host.facts();
const dockerAt = (directory) => docker({ host, facts, directory, socket: `${BASE}/run/docker.sock` });
const podmanAt = (directory) => podman({ host, facts, directory, socket: `${BASE}/run/podman.sock` });
const BACKENDS = [
  {
    name: 'overlayfs: overlay',
    parent: tmpdir(),
    make: (directory) => overlayfs({ host, facts, directory, strategy: 'overlay' }),
  },
  {
    name: 'overlayfs: btrfs',
    parent: `${BASE}/fs/btrfs`,
    make: (directory) => overlayfs({ host, facts, directory, strategy: 'btrfs' }),
  },
  {
    name: 'overlayfs: reflink',
    parent: `${BASE}/fs/xfs`,
    make: (directory) => overlayfs({ host, facts, directory, strategy: 'reflink' }),
  },
  {
    name: 'overlayfs: copy',
    parent: tmpdir(),
    make: (directory) => overlayfs({ host, facts, directory, strategy: 'copy' }),
  },
  { name: 'docker: busybox', parent: tmpdir(), make: dockerAt, image: 'busybox:latest' },
  { name: 'docker: debian', parent: tmpdir(), make: dockerAt, image: 'debian:bookworm' },
  { name: 'podman: busybox', parent: tmpdir(), make: podmanAt, image: 'busybox:latest' },
];

const wanted = process.argv.slice(2);
const kept = existsSync(MEASURES) ? JSON.parse(await readFile(MEASURES, 'utf8')) : [];
const measures = [];
for (const { name, parent, make, image } of BACKENDS) {
  const before = kept.find((one) => one.name === name);
  if (wanted.length > 0 && !wanted.some((word) => name.startsWith(word))) {
    if (before) measures.push(before);
    continue;
  }
  const directory = await mkdtemp(join(parent, 'litterbox-matrix-'));
  try {
    const { usable, checks } = await make(directory).probe();
    if (!usable) {
      console.error(`${name}: not here: ${checks.find(({ status }) => status === 'failed')?.finding}`);
      continue;
    }
    console.error(`${name}: measuring`);
    const options = {
      name,
      timeoutMs: 180_000,
      host,
      open: async () => make(directory),
      // Root's sandboxes in namespaces have it with version 2 of control groups alone.
      ...(name.startsWith('overlayfs') &&
        !existsSync('/sys/fs/cgroup/cgroup.controllers') && { lacking: ['disk-speed'] }),
      ...(image !== undefined && { root: { type: 'image', reference: image } }),
    };
    measures.push(
      await measureProvider(options, (group, title, error) =>
        console.error(`${name}: FAILED ${group}: ${title}\n`, error),
      ),
    );
  } finally {
    // Base trees on Btrfs are read-only.
    const trees = ['-type', 'd', '-name', '*.btrfs'];
    spawnSync('find', [directory, ...trees, '-exec', 'btrfs', 'property', 'set', '-ts', '{}', 'ro', 'false', ';']);
    await rm(directory, { recursive: true, force: true });
  }
}
await writeFile(MEASURES, `${JSON.stringify(measures, undefined, 2)}\n`);
await writeFile(PAGE, pageWithTable());
console.error(`${measures.length} backends in docs/capabilities.json and docs/capabilities.md`);
process.exit(); // an engine's client may still hold a connection
