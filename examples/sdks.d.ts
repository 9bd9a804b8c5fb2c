// Whoever runs these examples has installed the SDK of their agent.
declare module '@anthropic-ai/claude-agent-sdk';
declare module '@openai/codex-sdk';
declare module '@ai-sdk/harness-claude-code';
