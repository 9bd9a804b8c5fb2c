import type { AgentClient } from './agent-client.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { vscode } from './vscode.ts';

export const CLIENTS: readonly AgentClient[] = [claude, codex, opencode, gemini, cursor, vscode];
