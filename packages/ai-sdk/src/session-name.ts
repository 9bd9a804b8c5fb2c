const PLAIN = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** The name of the sandbox of a framework's session: the same in every process, and another one for another id. */
export async function sessionName(id: string): Promise<string> {
  if (id.length <= 32 && PLAIN.test(id)) return `session-${id}`;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(id));
  return `session-${Buffer.from(digest).toString('hex').slice(0, 32)}`;
}
