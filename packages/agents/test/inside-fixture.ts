import { randomBytes } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endpointGate } from '@litterbox/endpoints';
import { PROVIDERS } from '@litterbox/providers';
import { type KeyServer, keyServer, RepositoryFixture } from '@litterbox/testing';
import { type AgentTable, agentsOf, createLitterbox, type Litterbox, type OutputChunk, type Sandbox } from 'litterbox';
import { type AgentRun, type AgentRunOptions, runAgent } from '../src/index.ts';

const PROVIDER = process.env['LITTERBOX_TEST_PROVIDER'] ?? 'overlayfs';

/** An agent: asks its model, then does what its prompt says, by whatever is there. */
const AGENT = `#!/bin/sh
at=\${MODEL_URL#http://}
printf 'POST /v1/messages HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\nx-api-key: %s\\r\\nContent-Length: 0\\r\\n\\r\\n' "$at" "$MODEL_KEY" >/tmp/asked
if command -v perl >/dev/null; then
perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new($ARGV[0]) or die "nothing listens\\n"; open F, "/tmp/asked"; local $/; print $s <F>; print <$s>' "$at" >/tmp/answer
else mkfifo /tmp/open; nc "\${at%:*}" "\${at#*:}" </tmp/open >/tmp/answer & exec 3>/tmp/open; cat /tmp/asked >&3; wait $!; exec 3>&-; rm /tmp/open; fi
printf '{"type":"answer","status":"%s"}\\n' "$(head -n1 /tmp/answer | tr -d '\\r')"
eval "$1"
`;
const CONFIG = `[agents.scripted]
title = "Scripted"
program = "./agent.sh"
args = ["{prompt}"]
endpoint = "anthropic"
logins = ["auth.json"]
env = { MODEL_URL = "{url}", MODEL_KEY = "{placeholder}", MODEL_STATE = "{state}" }
files = { "sub/settings.json" = '{"url":"{url}"}' }
end = { type = "result" }
tokens = { input = "usage.input_tokens", output = "usage.output_tokens" }
[agents.lost]
program = "no-such-agent"
args = ["{prompt}"]
endpoint = "model"
[secrets]
KEY = { file = "KEY_FILE" }
[endpoints.model]
kind = "anthropic"
secret = "KEY"
url = "MODEL_SERVER"
`;

/** A repository with an agent that is a script, a model that wants a key, and a sandbox. */
export class InsideFixture extends RepositoryFixture {
  readonly key: string;
  readonly server: KeyServer;
  readonly litterbox: Litterbox;
  sandbox!: Sandbox;
  agents: Readonly<Record<string, AgentTable>> = {};
  printed = '';

  private constructor(server: KeyServer, key: string) {
    super({ 'a.txt': 'a\n' });
    this.key = key;
    this.server = this.use(server);
    const file = join(this.directory, 'key');
    writeFileSync(file, key, { mode: 0o600 });
    this.file('agent.sh', AGENT);
    chmodSync(join(this.repository, 'agent.sh'), 0o755);
    this.file('.litterbox.toml', CONFIG.replace('KEY_FILE', file).replace('MODEL_SERVER', server.url));
    this.git('add', '-A');
    this.git('commit', '-qm', 'agent');
    const provider = PROVIDERS.find(({ kind }) => kind === PROVIDER);
    if (!provider) throw new Error(`no provider ${PROVIDER}`);
    const { repository, stateDirectory } = this;
    this.litterbox = createLitterbox({
      repo: repository,
      providers: [provider],
      stateDirectory,
      actor: 'scripted',
      parts: { endpointGate: endpointGate({ ca: server.certificate }) },
    });
    this.defer(async () => {
      for (const { name } of await this.litterbox.list()) await this.litterbox.delete(name, { force: true });
      await this.litterbox[Symbol.asyncDispose]();
    });
  }

  static async open(): Promise<InsideFixture> {
    const key = `sk-real-${randomBytes(16).toString('hex')}`;
    const fixture = new InsideFixture(await keyServer(key), key);
    const { litterbox } = fixture;
    const { contentHash, config } = await litterbox.trustStatus();
    await litterbox.trust(contentHash);
    fixture.agents = agentsOf(config.agents);
    fixture.sandbox = await litterbox.create({ name: 'one' });
    return fixture;
  }

  async run(prompt: string, options: AgentRunOptions = {}, name = 'scripted'): Promise<AgentRun> {
    const agent = this.agents[name];
    if (!agent) throw new Error(`no agent ${name}`);
    const onOutput = async ({ bytes }: OutputChunk) => void (this.printed += Buffer.from(bytes).toString());
    return await runAgent(this.sandbox, { name, agent, prompt }, { onOutput, ...options });
  }
}
