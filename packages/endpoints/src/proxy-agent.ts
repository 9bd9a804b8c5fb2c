import { request, type RequestOptions } from 'node:http';
import { Agent, type AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import type { UpstreamProxy } from '@litterbox/core/provider';

/** Until the proxy has answered. */
const CONNECT_MS = 10_000;

/** Why the person's proxy led nowhere, in a sentence of ours. */
export class ProxyFailure extends Error {}

/** TLS to servers through a proxy of the person's (RFC 9110, 9.3.6), which looks names up and sees none of what is said. */
export class ProxyAgent extends Agent {
  readonly #proxy: UpstreamProxy;
  readonly #asking = new Set<{ destroy(): void }>();

  constructor(proxy: UpstreamProxy, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(
    options: RequestOptions,
    callback: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { host, port, authorization } = this.#proxy;
    const wanted = `${isBare6(options.host) ? `[${options.host}]` : options.host}:${options.port}`;
    const asking = request({
      host,
      port,
      method: 'CONNECT',
      path: wanted,
      agent: false,
      headers: { host: wanted, ...(authorization !== undefined && { 'proxy-authorization': authorization }) },
    });
    const late = setTimeout(() => asking.destroy(new Error('late')), CONNECT_MS).unref();
    this.#asking.add(asking);
    const answered = () => {
      clearTimeout(late);
      this.#asking.delete(asking);
    };
    const fail = (what: string) =>
      callback(new ProxyFailure(`the proxy that this machine uses (${host}:${port}) ${what}`), undefined as never);
    const gone = () => {
      answered();
      fail('does not answer');
    };
    asking.once('error', gone);
    asking.once('connect', ({ statusCode = 0 }, socket, head) => {
      answered();
      asking.off('error', gone).on('error', () => {});
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        return fail(`answered ${statusCode} for ${options.host}`);
      }
      if (head.length > 0) socket.unshift(head);
      callback(null, super.createConnection({ ...options, socket } as RequestOptions) as Duplex);
    });
    asking.end();
    return undefined;
  }

  override destroy(): void {
    for (const asking of this.#asking) asking.destroy();
    super.destroy();
  }
}

const isBare6 = (host: string | null | undefined) => host?.includes(':') === true;
