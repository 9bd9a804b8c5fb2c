/**
 * What people call the agent behind a client, of what the client says of itself: `claude-code`. A name of its own making, so it is cut to a
 * word that can stand in a list. `mcp`: it says nothing of use.
 */
export function agentName(client: unknown): string {
  const name = typeof client === 'object' && client !== null && 'name' in client ? client.name : undefined;
  if (typeof name !== 'string') return 'mcp';
  const word = name
    .slice(0, 256)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[-0-9]+|-mcp-client.*$/g, '')
    .slice(0, 32)
    .replace(/-+$/, '');
  return word === '' ? 'mcp' : word;
}
