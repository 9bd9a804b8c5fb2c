// Enforces NetworkPolicy on the test's own node, as far as these tests need it: policies.mjs NFT DIRECTORY. A pod says nothing to anybody and hears
// from nobody until it is known that no policy without rules selects it; what was asked from outside goes on. A network plugin would do this, and
// be as strict with what it does not know yet.
import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { apiOf } from './api.mjs';

const [, , nft, directory] = process.argv;
const LOOK_AGAIN_MS = 200;

const libraries = nft.replace(/\/usr\/sbin\/nft$/, '/usr/lib/x86_64-linux-gnu');
const rules = (text) =>
  execFileSync(nft, ['-f', '-'], { input: text, env: { ...process.env, LD_LIBRARY_PATH: libraries } });

const ask = apiOf(directory);
const get = async (path) => (await ask(path)).items;

rules(`table inet litterbox_test {
  set free { type ipv4_addr; flags interval; }
  chain judge { iif lo accept; ip saddr 10.78.0.0/24 ip saddr != @free ct state established,related accept; ip saddr 10.78.0.0/24 ip saddr != @free drop; ip daddr 10.78.0.0/24 ip daddr != @free ct state established,related accept; ip saddr != 10.77.0.1 ip daddr 10.78.0.0/24 ip daddr != @free drop; }
  chain forward { type filter hook forward priority 0; jump judge; }
  chain input { type filter hook input priority 0; jump judge; }
}`);

let last = '';
for (;;) {
  try {
    const [policies, pods, switches] = await Promise.all([
      get('/apis/networking.k8s.io/v1/networkpolicies'),
      get('/api/v1/pods'),
      get('/api/v1/configmaps?fieldSelector=metadata.name=litterbox-test-no-policies'),
    ]);
    const selects = ({ metadata, spec }, pod) =>
      metadata.namespace === pod.metadata.namespace &&
      Object.entries(spec.podSelector.matchLabels ?? {}).every(
        ([name, value]) => pod.metadata.labels?.[name] === value,
      );
    const free = pods.filter((pod) => pod.status.podIP && !policies.some((policy) => selects(policy, pod)));
    // As a cluster without a plugin for policies.
    const addresses =
      switches.length > 0
        ? '10.78.0.0/24'
        : free
            .map((pod) => pod.status.podIP)
            .sort()
            .join(', ');
    if (addresses !== last)
      rules(
        `flush set inet litterbox_test free\n${addresses ? `add element inet litterbox_test free { ${addresses} }\n` : ''}`,
      );
    last = addresses;
  } catch (error) {
    console.error(String(error));
  }
  await delay(LOOK_AGAIN_MS);
}
