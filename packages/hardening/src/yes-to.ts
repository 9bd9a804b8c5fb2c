import type { Litterbox } from 'litterbox';

/** The yes of a program to everything that a sandbox has recorded by now, with the files that run code. */
export async function yesTo(litterbox: Pick<Litterbox, 'log'>, name: string) {
  let tip = '0';
  for await (const { commit } of litterbox.log(name, { limit: 1 })) tip = commit;
  return { acceptRisky: true, tip } as const;
}
