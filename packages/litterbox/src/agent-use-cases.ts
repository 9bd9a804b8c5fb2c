// A file of its own, which is loaded by the first call.
export { AGENT_USE_CASES } from '@litterbox/core/agent';
