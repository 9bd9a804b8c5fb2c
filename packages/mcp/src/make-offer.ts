import { homedir } from 'node:os';
import {
  ALWAYS_LEAN,
  agentHint,
  describeSetting,
  instructionsOf,
  OpenRepository,
  offeredTools,
  sandboxList,
  slugify,
  toolNames,
} from '@litterbox/core/agent';
import { providersFor, userHosts } from '@litterbox/providers';
import { defaultStateDirectory, openForAgents } from 'litterbox/agent';
import { OpenQuestions } from './ask-person.ts';
import { boundedPerformer } from './bounded-performer.ts';
import type { ServerSpec } from './build-server.ts';
import { launchKeeper } from './launch-keeper.ts';
import type { McpOptions } from './mcp-options.ts';
import { placeIn } from './place-in.ts';

const VERSION = '0.1.0';

/** Opens what a server works with, and looks once at what is in force: tools and instructions are made of it. */
export async function makeOffer({
  repo,
  profile: wanted,
  prefix,
  sandbox: named,
  actor,
  share = false,
}: McpOptions): Promise<ServerSpec> {
  const sandbox = named === undefined ? undefined : slugify(named).slug;
  const litterbox = openForAgents({
    repo,
    providers: providersFor(process.env, repo),
    openHosts: userHosts,
    actor: actor ?? 'mcp',
    launchKeeper,
    environment: process.env,
    parts: { heap: ALWAYS_LEAN }, // start.ts has set the flags for good
  });
  const { useCases } = await litterbox.wired();
  const setting = {
    ...(await describeSetting(useCases, sandbox)),
    place: await placeIn(useCases.get(OpenRepository), repo),
  };
  const profile = wanted ?? setting.profile;
  const nameOf = toolNames({ profile, prefix });
  const bounded = boundedPerformer(litterbox);
  return {
    litterbox: bounded,
    tools: offeredTools({ profile, prefix, sandbox, setting }),
    instructions: instructionsOf(setting, { prefix, sandbox }),
    sandbox,
    version: VERSION,
    actor,
    isSharing: share,
    questions: new OpenQuestions(),
    telling: {
      places: [[defaultStateDirectory(), '<state directory>'] as const, [homedir(), '~'] as const].filter(
        ([path]) => path.length > 1, // `/` is the home of some users of containers, and in every path
      ),
      hintOf: (details) => agentHint(details, nameOf),
    },
    async names(options) {
      if (sandbox !== undefined) return [sandbox];
      const answer = await bounded.perform(sandboxList, {}, options);
      if (answer.type !== 'facts') return [];
      return (answer.facts['sandboxes'] as readonly { readonly name: string }[]).map(({ name }) => name);
    },
  };
}
