import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
const [,, start, repo] = process.argv;
const t = new StdioClientTransport({ command: process.execPath, args: ['--semi-space-growth-factor=1','-e', `require(${JSON.stringify(start)}).start(['-C', ${JSON.stringify(repo)}])`], env: process.env, stderr: 'inherit' });
const c = new Client({ name: 'try', version: '1' });
await c.connect(t);
const call = (name, args) => c.callTool({ name, arguments: args });
await call('sandbox-create', { name: 's' }).catch(()=>{});
await call('write', { sandbox: 's', path: 'x/y.txt', content: 'one\ntwo\n' });
for (let round=0; round<2; round++) for (const [n,a] of [['sandbox-list',{}],['read',{sandbox:'s',path:'x/y.txt'}],['ls',{sandbox:'s',path:'x'}],['bash',{sandbox:'s',command:'true'}],['write',{sandbox:'s',path:'x/z.txt',content:'q'}]]) { const ts=[]; for (let i=0;i<200;i++){ const t0=performance.now(); if(n==='write') a.content='q'+i+round; await call(n,a); ts.push(performance.now()-t0);} ts.sort((x,y)=>x-y); console.log(n, 'median', ts[100].toFixed(2), 'p95', ts[190].toFixed(2)); }
await c.close();
