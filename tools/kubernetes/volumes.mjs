// Gives volumes to claims on the test's own node: volumes.mjs DIRECTORY. Each is an ext4 file system in a file of the size that was asked for, and
// goes with its claim. A driver of the cluster would do this.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { apiOf } from './api.mjs';

const [, , directory] = process.argv;
const ask = apiOf(directory);
const LOOK_AGAIN_MS = 200;
const CLASS = 'litterbox-test';
const VOLUMES = '/api/v1/persistentvolumes';
const FACTORS = { '': 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

await ask('/apis/storage.k8s.io/v1/storageclasses', 'POST', {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: CLASS, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'litterbox.dev/test',
});

function bytesOf(quantity) {
  const [, digits, suffix] = /^(\d+)(|Ki|Mi|Gi)$/.exec(quantity);
  return Number(digits) * FACTORS[suffix];
}

async function give({ metadata, spec }) {
  const name = `volume-${metadata.uid}`;
  const place = `${directory}/volumes/${name}`;
  const { storage } = spec.resources.requests;
  mkdirSync(place, { recursive: true });
  execFileSync('truncate', ['-s', String(bytesOf(storage)), `${place}.ext4`]);
  execFileSync('mkfs.ext4', ['-q', '-m', '0', `${place}.ext4`]);
  execFileSync('mount', ['-o', 'loop,nosuid,nodev', `${place}.ext4`, place]);
  await ask(VOLUMES, 'POST', {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage },
      claimRef: { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
      local: { path: place },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node1'] }] },
          ],
        },
      },
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: CLASS,
    },
  });
}

async function takeBack({ metadata, spec }) {
  execFileSync('umount', [spec.local.path]);
  rmSync(spec.local.path, { recursive: true });
  rmSync(`${spec.local.path}.ext4`);
  await ask(`${VOLUMES}/${metadata.name}`, 'DELETE');
}

const given = new Set();
for (;;) {
  try {
    const { items: claims } = await ask('/api/v1/persistentvolumeclaims');
    for (const claim of claims)
      if (claim.spec.storageClassName === CLASS && claim.status.phase === 'Pending' && !given.has(claim.metadata.uid)) {
        given.add(claim.metadata.uid);
        await give(claim);
      }
    const { items: volumes } = await ask(VOLUMES);
    for (const volume of volumes) if (volume.status.phase === 'Released') await takeBack(volume);
  } catch (error) {
    console.error(String(error));
  }
  await delay(LOOK_AGAIN_MS);
}
