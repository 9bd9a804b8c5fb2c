export {
  type AgentClient,
  type AgentClientOptions,
  type Answer,
  answerOf,
  connectAgent,
  type Era,
  ERAS,
  serverArguments,
} from './agent/agent-client.ts';
