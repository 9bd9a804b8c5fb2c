import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Review, startReview } from '@litterbox/review';

let review: Review;
let opened = 0;
let asked = 0;
beforeAll(async () => {
  review = await startReview({
    litterbox: {
      async perform() {
        asked++;
        throw new Error('asked');
      },
      async [Symbol.asyncDispose]() {},
    },
    onOpened: () => opened++,
  });
});
afterAll(async () => await review[Symbol.asyncDispose]());

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function send({ path = '/api/sandboxes', method = 'GET', headers = {}, body = '' }: Sent) {
  const { hostname, port } = new URL(review.link());
  return await new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>(
    (resolve, reject) => {
      const request = httpRequest({ hostname, port, path, method, agent: false, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
      });
      request.on('error', reject).end(body);
    },
  );
}

const origin = () => new URL(review.link()).origin;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const json = () => ({ 'content-type': 'application/json', origin: origin() });
const exchange = async (link: string, more: Readonly<Record<string, string>> = {}) =>
  await send({
    path: '/api/session',
    method: 'POST',
    headers: { ...json(), ...bearer(new URL(link).hash.slice(1)), ...more },
    body: '{}',
  });
const session = async () => (JSON.parse((await exchange(review.link())).body) as { session: string }).session;

describe('the door of the page', () => {
  it('FC-308: a port that is taken is PORT_TAKEN', async () => {
    const { port } = new URL(review.link());
    const second = startReview({
      litterbox: { perform: async () => undefined as never, async [Symbol.asyncDispose]() {} },
      port: Number(port),
    });
    await expect(second).rejects.toMatchObject({ code: 'PORT_TAKEN' });
  });

  it('AX145: a link opens one window, and is worth nothing after that', async () => {
    const link = review.link();
    const before = opened;
    expect((await exchange(link)).status).toBe(200);
    expect(opened).toBe(before + 1);
    expect((await exchange(link)).status).toBe(401);
    expect((await send({ headers: bearer(new URL(link).hash.slice(1)) })).status).toBe(401);
    expect(opened).toBe(before + 1);
  });

  it('AX145: another user of the machine, without a session, gets nothing', async () => {
    const before = asked;
    for (const path of ['/api/sandboxes', '/api/sandboxes/a/diff', '/api/sandboxes/a/calls/1', '/api/none']) {
      expect((await send({ path })).status).toBe(401);
      expect((await send({ path, headers: bearer('A'.repeat(43)) })).status).toBe(401);
      expect((await send({ path, headers: { cookie: `session=${await session()}` } })).status).toBe(401);
    }
    expect(asked).toBe(before);
  });

  it('says why a diff cannot be shown', async () => {
    const headers = bearer(await session());
    const [list, diff] = [await send({ headers }), await send({ headers, path: '/api/sandboxes/a/diff' })];
    expect([diff.status, JSON.parse(diff.body)]).toEqual([list.status, JSON.parse(list.body)]);
    expect(JSON.parse(diff.body)).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });
  });

  it('refuses a question that came in part, and asks nothing in its place', async () => {
    const headers = { ...bearer(await session()), ...json() };
    const before = asked;
    const plan = { path: '/api/sandboxes/a/plan', method: 'POST', headers };
    for (const [body, code] of [
      [`{"paths":["${'x'.repeat(9 * 2 ** 20)}"]}`, 'ARG_RANGE'],
      ['{"paths":', 'ARG_TYPE'],
    ] as const)
      expect(JSON.parse((await send({ ...plan, body })).body)).toMatchObject({ error: { code } });
    expect(asked).toBe(before);
  });

  it('AX146: a name that points here, another page and another port of this machine get nothing', async () => {
    const headers = bearer(await session());
    const before = asked;
    for (const host of ['evil.example', 'localhost', `localhost:${new URL(origin()).port}`, '127.0.0.1', '127.0.0.1:1'])
      expect((await send({ headers: { ...headers, host } })).status).toBe(403);
    for (const other of ['http://evil.example', 'http://127.0.0.1:1', 'null', origin().replace('http:', 'https:')])
      expect((await send({ headers: { ...headers, origin: other } })).status).toBe(403);
    for (const site of ['cross-site', 'same-site'])
      expect((await send({ headers: { ...headers, 'sec-fetch-site': site } })).status).toBe(403);
    expect((await send({ headers, path: 'http://127.0.0.1/api/sandboxes' })).status).toBe(400);
    expect(asked).toBe(before);
  });

  it('AX146: a form or a page without our origin decides nothing', async () => {
    const headers = bearer(await session());
    const before = asked;
    const decision = { path: '/api/sandboxes/a/merge', method: 'POST', body: '{"tip":"1"}' };
    const type = { 'content-type': 'application/json' };
    expect((await send({ ...decision, headers: { ...headers, ...type } })).status).toBe(403);
    for (const other of ['text/plain', 'application/x-www-form-urlencoded'])
      expect((await send({ ...decision, headers: { ...headers, ...json(), 'content-type': other } })).status).toBe(415);
    expect((await send({ ...decision, method: 'DELETE', headers: { ...headers, ...json() } })).status).toBe(405);
    expect(asked).toBe(before);
    // Only what is no decision at all is left to refuse, and what says which state it is about goes on.
    const refused = await send({ ...decision, body: '{}', headers: { ...headers, ...json() } });
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([409, { error: { code: 'INVALID_ARGUMENT' } }]);
    expect(asked).toBe(before);
    expect((await send({ ...decision, headers: { ...headers, ...json() } })).status).toBe(500);
    expect(asked).toBe(before + 1);
  });

  it('every answer forbids all that is not a file of ours', async () => {
    for (const path of ['/', '/main.js', '/colours.js', '/style.css', '/none', '/../package.json', '/api/sandboxes']) {
      const { status, headers } = await send({ path });
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(status).toBe(path.startsWith('/api') ? 401 : /none|package/.test(path) ? 404 : 200);
    }
  });

  it('the page itself has no inline script, style or handler', async () => {
    const { body } = await send({ path: '/' });
    expect(body).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
  });
});
