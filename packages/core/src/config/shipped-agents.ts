import { parse } from 'smol-toml';

/** Written by what their vendors say; no test of ours drives them. */
const UNTRIED: readonly string[] = ['goose', 'aider', 'cursor', 'cline', 'amp'];

/** Agents that come along, as a configuration would have them below `[agents]`. */
const TABLES = `
[claude]
title = "Claude Code"
program = "claude"
args = ["-p", "{prompt}", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
endpoint = "anthropic"
logins = [".credentials.json"]
end = { type = "result" }
tokens = { input = "usage.input_tokens", output = "usage.output_tokens" }
[claude.env]
ANTHROPIC_BASE_URL = "{url}"
ANTHROPIC_API_KEY = "{placeholder}"
CLAUDE_CONFIG_DIR = "{state}"
CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = "1"
DISABLE_AUTOUPDATER = "1"
IS_SANDBOX = "1"

[codex]
title = "Codex"
program = "codex"
args = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-c", 'openai_base_url="{url}/v1"', "{prompt}"]
endpoint = "openai"
logins = ["auth.json"]
tokens = { input = "usage.input_tokens", output = "usage.output_tokens" }
[codex.env]
CODEX_HOME = "{state}"
CODEX_API_KEY = "{placeholder}"

[gemini]
title = "Gemini CLI"
program = "gemini"
args = ["-p", "{prompt}", "-o", "stream-json", "--yolo", "--skip-trust", "-m", "gemini-2.5-pro"]
acp = ["--acp", "--skip-trust", "-m", "gemini-2.5-pro"]
endpoint = "gemini"
logins = ["oauth_creds.json"]
end = { type = "result" }
tokens = { input = "stats.input_tokens", output = "stats.output_tokens" }
[gemini.env]
GOOGLE_GEMINI_BASE_URL = "{url}"
GEMINI_API_KEY = "{placeholder}"
[gemini.files]
"settings.json" = '{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false}}'

[opencode]
title = "opencode"
program = "opencode"
args = ["run", "--format", "json", "--auto", "-m", "anthropic/claude-sonnet-4-5", "{prompt}"]
acp = ["acp"]
endpoint = "anthropic"
state = ".local/share/opencode"
logins = ["auth.json"]
tokens = { input = "part.tokens.input", output = "part.tokens.output", each = { type = "step_finish" } }
[opencode.env]
ANTHROPIC_BASE_URL = "{url}/v1"
ANTHROPIC_API_KEY = "{placeholder}"
OPENCODE_DISABLE_AUTOUPDATE = "1"
OPENCODE_DISABLE_MODELS_FETCH = "1"
OPENCODE_DISABLE_SHARE = "1"
OPENCODE_CONFIG_CONTENT = '{"model":"anthropic/claude-sonnet-4-5"}'

[qwen]
title = "Qwen Code"
program = "qwen"
args = ["{prompt}", "-o", "stream-json", "--yolo", "--auth-type", "openai"]
acp = ["--acp", "--auth-type", "openai"]
endpoint = "openai"
logins = ["oauth_creds.json"]
end = { type = "result" }
tokens = { input = "usage.input_tokens", output = "usage.output_tokens" }
[qwen.env]
OPENAI_BASE_URL = "{url}/v1"
OPENAI_API_KEY = "{placeholder}"
OPENAI_MODEL = "gpt-5"
QWEN_CODE_SUPPRESS_YOLO_WARNING = "1"
[qwen.files]
"settings.json" = '{"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}}'

[copilot]
title = "Copilot CLI"
program = "copilot"
args = ["-p", "{prompt}", "--output-format", "json", "--allow-all-tools"]
acp = ["--acp"]
endpoint = "openai"
end = { type = "result" }
[copilot.env]
COPILOT_HOME = "{state}"
COPILOT_PROVIDER_BASE_URL = "{url}/v1"
COPILOT_PROVIDER_TYPE = "openai"
COPILOT_PROVIDER_API_KEY = "{placeholder}"
COPILOT_MODEL = "gpt-5"
COPILOT_OFFLINE = "true"
COPILOT_AUTO_UPDATE = "false"
COPILOT_ALLOW_ALL = "1"

[pi]
title = "pi"
program = "pi"
args = ["-p", "--mode", "json", "--model", "anthropic/claude-sonnet-4-5", "{prompt}"]
endpoint = "anthropic"
logins = ["agent/auth.json"]
tokens = { input = "message.usage.input", output = "message.usage.output", each = { type = "turn_end" } }
[pi.env]
ANTHROPIC_API_KEY = "{placeholder}"
PI_OFFLINE = "1"
[pi.files]
"agent/models.json" = '{"providers":{"anthropic":{"baseUrl":"{url}"}}}'

[goose]
program = "goose"
args = ["run", "--no-session", "-t", "{prompt}"]
endpoint = "anthropic"
state = ".config/goose"
logins = ["secrets.yaml"]
[goose.env]
ANTHROPIC_HOST = "{url}"
ANTHROPIC_API_KEY = "{placeholder}"
GOOSE_PROVIDER = "anthropic"
GOOSE_MODEL = "claude-sonnet-4-5"
GOOSE_MODE = "auto"
GOOSE_DISABLE_KEYRING = "1"

[aider]
program = "aider"
args = ["--yes-always", "--no-check-update", "--no-analytics", "--model", "openai/gpt-5", "--message", "{prompt}"]
endpoint = "openai"
[aider.env]
OPENAI_API_BASE = "{url}/v1"
OPENAI_API_KEY = "{placeholder}"

[cursor]
title = "Cursor CLI"
program = "cursor-agent"
args = ["-p", "--force", "--output-format", "stream-json", "--endpoint", "{url}", "{prompt}"]
endpoint = "cursor"
logins = ["auth.json"]
end = { type = "result" }
[cursor.env]
CURSOR_API_KEY = "{placeholder}"

[cline]
title = "Cline CLI"
program = "cline"
args = ["--yolo", "--json", "{prompt}"]
endpoint = "anthropic"
logins = ["data/secrets.json"]
[cline.env]
ANTHROPIC_BASE_URL = "{url}"
ANTHROPIC_API_KEY = "{placeholder}"

[amp]
title = "Amp"
program = "amp"
args = ["--dangerously-allow-all", "--stream-json", "-x", "{prompt}"]
endpoint = "amp"
state = ".local/share/amp"
logins = ["secrets.json"]
end = { type = "result" }
[amp.env]
AMP_URL = "{url}"
AMP_API_KEY = "{placeholder}"
`;

interface ShippedAgents {
  readonly tables: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly untried: readonly string[];
}

let parsed: ShippedAgents | undefined;

/** Read on first need: most commands run no agent. */
export function shippedAgents(): ShippedAgents {
  parsed ??= { tables: parse(TABLES) as ShippedAgents['tables'], untried: UNTRIED };
  return parsed;
}
