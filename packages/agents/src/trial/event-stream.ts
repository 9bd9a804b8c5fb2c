/** Server-sent events, as models answer. */
export function eventStream(events: readonly ({ readonly type: string } & Readonly<Record<string, unknown>>)[]): {
  readonly type: string;
  readonly body: string;
} {
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return { type: 'text/event-stream', body };
}
