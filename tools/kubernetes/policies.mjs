// Enforces NetworkPolicy on the test's own node, as far as these tests need it: policies.mjs NFT DIRECTORY. A pod that a policy without rules
// selects says nothing to anybody and hears from nobody; what was asked from outside goes on. A network plugin would do this.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';

const [, , nft, directory] = process.argv;
const ca = readFileSync(`${directory}/ca.crt`);
const [token] = readFileSync(`${directory}/tokens.csv`, 'utf8').split(',', 1);
const LOOK_AGAIN_MS = 200;

const libraries = nft.replace(/\/usr\/sbin\/nft$/, '/usr/lib/x86_64-linux-gnu');
const rules = (text) =>
  execFileSync(nft, ['-f', '-'], { input: text, env: { ...process.env, LD_LIBRARY_PATH: libraries } });

async function get(path) {
  const { promise, resolve, reject } = Promise.withResolvers();
  request(`https://10.77.0.1:6443${path}`, { ca, headers: { authorization: `Bearer ${token}` } }, resolve)
    .on('error', reject)
    .end();
  const answer = await promise;
  let text = '';
  for await (const chunk of answer) text += chunk;
  return JSON.parse(text).items ?? [];
}

rules(`table inet litterbox_test {
  set denied { type ipv4_addr; }
  chain judge { ip saddr @denied ct state established,related accept; ip saddr @denied drop; ip daddr @denied ct state established,related accept; ip saddr != 10.77.0.1 ip daddr @denied drop; }
  chain forward { type filter hook forward priority 0; jump judge; }
  chain input { type filter hook input priority 0; jump judge; }
}`);

let last = '';
for (;;) {
  try {
    const [policies, pods] = await Promise.all([
      get('/apis/networking.k8s.io/v1/networkpolicies'),
      get('/api/v1/pods'),
    ]);
    const selects = ({ metadata, spec }, pod) =>
      metadata.namespace === pod.metadata.namespace &&
      Object.entries(spec.podSelector.matchLabels ?? {}).every(
        ([name, value]) => pod.metadata.labels?.[name] === value,
      );
    const denied = pods.filter((pod) => pod.status.podIP && policies.some((policy) => selects(policy, pod)));
    const addresses = denied
      .map((pod) => pod.status.podIP)
      .sort()
      .join(', ');
    if (addresses !== last)
      rules(
        `flush set inet litterbox_test denied\n${addresses ? `add element inet litterbox_test denied { ${addresses} }\n` : ''}`,
      );
    last = addresses;
  } catch (error) {
    console.error(String(error));
  }
  await delay(LOOK_AGAIN_MS);
}
