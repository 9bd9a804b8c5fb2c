/** For help and completion, which load no client. A test compares them with the clients. */
export const CLIENT_IDS = ['claude', 'codex', 'opencode', 'gemini', 'cursor', 'vscode'] as const;
