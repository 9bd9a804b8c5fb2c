import * as z from 'zod';
import { type Racer, RaceForks, type RaceResult } from '../use-cases/go-back/race-forks.ts';
import { fields } from './declare/fields.ts';
import { forkDocument } from './fork-document.ts';
import { operation } from './declare/operation.ts';
import { judgedDocument } from './judge-sandboxes.ts';

/** Each racer is a sandbox that works at the same time as the others. */
const MAX_RACERS = 16;

/** `sandbox-race`, `litterbox race`: do the same work in several forks, and rank them by a judge. */
export const raceForks = operation({
  name: 'sandbox-race',
  summary: 'Do the same work in several forks of a sandbox at once, and rank them by a judge',
  effect: 'write',
  command: {
    verb: 'race',
    positional: ['sandbox', 'command'],
    examples: [
      "race fix-login -n 4 --judge 'npm test' -- ./agent.sh",
      "race fix-login -n 2 --judge ./score.sh 'make fast'",
    ],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    command: fields.command().describe('The work of each fork, which finds its number from 1 on in LITTERBOX_RACER'),
    judge: fields
      .text('command')
      .describe('Runs in each fork afterwards: exit status 0 passes, and a number on its last line ranks'),
    count: fields.count(2, MAX_RACERS, { flag: 'number', short: 'n' }).describe('How many forks'),
    name: fields
      .text('name')
      .optional()
      .describe(
        "Beginning of the forks' names, which end with their numbers. Default: the sandbox's name, with -race where one is taken",
      ),
    timeoutMs: fields.durationMs(1).optional().describe('Stop the work of a fork after this, such as 10m'),
  }),
  document: ({ racers, winner, unmade }: RaceResult) => ({
    ...(winner !== undefined && { winner }),
    racers: racers.map((racer) => racerDocument(racer)),
    unmade: unmade.map((fork) => forkDocument(fork)),
  }),
  execute: async (useCases, input, options) => await useCases.get(RaceForks).race(input, options),
});

function racerDocument(racer: Racer) {
  const { record, number, work } = racer;
  return {
    name: record.slug,
    number,
    ...judgedDocument(racer),
    ...(work && { exitCode: work.exit.code, durationMs: work.durationMs }),
  };
}
