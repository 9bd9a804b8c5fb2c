// node --import sdk-resolver.mjs harness-program.mjs: an embedder of the AI SDK's harness, in the repository of the current directory.
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
