// node --import sdk-resolver.mjs: finds the SDKs of agents in the directory that LITTERBOX_AGENT_SDKS names.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const parentURL = pathToFileURL(`${process.env.LITTERBOX_AGENT_SDKS}/none.mjs`).href;
const isSdk = (specifier) =>
  /^(@anthropic-ai\/claude-agent-sdk|@openai\/codex-sdk|@ai-sdk\/harness(-claude-code)?)(\/|$)/.test(specifier);
registerHooks({
  resolve: (specifier, context, next) => next(specifier, isSdk(specifier) ? { ...context, parentURL } : context),
});
