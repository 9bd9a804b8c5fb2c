import type { Turn } from './dialect.ts';
import type { Talk } from './model-server.ts';

/** What a client and the model said to each other, for people: each call with what came back of it, as the model got it. */
export function transcriptOf(title: string, { tools, turns, results }: Talk): string {
  const ours = tools.filter((tool) => tool.ours !== undefined).map(({ name }) => name);
  const own = tools.filter((tool) => tool.ours === undefined).map(({ name }) => name);
  return [
    `# ${title}`,
    `Our tools: ${ours.join(', ')}.`,
    `The client's own: ${own.length === 0 ? 'none' : own.join(', ')}.`,
    ...turns.map((turn, index) => turnText(turn, index, results[index])),
    '',
  ].join('\n\n');
}

function turnText(turn: Turn, index: number, result: string | undefined): string {
  if (!('call' in turn)) return `## ${index + 1}. The last words\n\n${indented(turn.say)}`;
  const asked = `## ${index + 1}. ${turn.call.name}\n\n${indented(JSON.stringify(turn.input, undefined, 2))}`;
  return result === undefined ? asked : `${asked}\n\nCame back:\n\n${indented(result)}`;
}

const indented = (text: string) => text.replaceAll(/^/gm, '    ');
