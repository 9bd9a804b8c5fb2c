/** Looks again and again until something holds: for what another process does in its own time. Fails after the deadline with what was seen last. */
export async function eventually<Seen>(
  look: () => Promise<Seen>,
  holds: (seen: Seen) => boolean,
  deadlineMs = 30_000,
): Promise<Seen> {
  const end = Date.now() + deadlineMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > end)
      throw new Error(`It did not happen within ${deadlineMs} ms; seen last: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
