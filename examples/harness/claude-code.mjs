// Claude Code works in a sandbox of the repository where you are, run by the AI SDK's harness: node examples/harness/claude-code.mjs
// It needs the harness and @ai-sdk/harness-claude-code, pnpm in your PATH, an endpoint of the kind anthropic in .litterbox.toml, and a network
// by which pnpm reaches its registry. npm run test:agents -- --harness runs it with a model of its own and without a network.
import { HarnessAgent } from '@ai-sdk/harness/agent';
import { createClaudeCode } from '@ai-sdk/harness-claude-code';
import { harnessSandbox } from '@litterbox/ai-sdk';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { createLitterbox } from 'litterbox';

await using litterbox = createLitterbox({ providers: [overlayfs] });
const agent = new HarnessAgent({
  harness: createClaudeCode(), // address and key of its model are those that the sandbox has
  sandbox: harnessSandbox(litterbox),
  sandboxConfig: { workDir: 'project' },
});
const session = await agent.createSession();
const { text } = await agent.generate({ session, prompt: 'The greeting is wrong. Correct it.' });
console.log(text);
await session.destroy();
