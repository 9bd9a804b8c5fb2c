// Writes the sample of a pool whose pods pass the controls of Litterbox: node --no-warnings --conditions=@litterbox/source tools/kubernetes/write-template.mjs
import { writeFile } from 'node:fs/promises';
import { dumpYaml } from '@kubernetes/client-node';
import { POOL } from '../../packages/provider-kubernetes/test/pool-sample.ts';

const HEAD = `# A pool of agent-sandbox whose pods pass the controls of Litterbox; kubernetes.pods = "warm-pool/litterbox" takes them. Written by
# tools/kubernetes/write-template.mjs: change image and limits here, and leave the rest as it is.
`;
const file = new URL('../../packages/provider-kubernetes/deploy/agent-sandbox/pool.yaml', import.meta.url);
await writeFile(file, HEAD + POOL.map((one) => dumpYaml(one, { lineWidth: -1 })).join('---\n'));
