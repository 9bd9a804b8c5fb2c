import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  bearerAuthChallengeResponse,
  OAuthError,
  OAuthErrorCode,
  type OAuthTokenVerifier,
  verifyBearerToken,
} from '@modelcontextprotocol/server';

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** Lets a request in that carries the token; answers any other. Nothing of its body has been read by then. */
export function bearerGate(token: string): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> {
  const wanted = digestOf(token);
  const verifier: OAuthTokenVerifier = {
    async verifyAccessToken(given) {
      // Digests have one length, and comparing them takes one time.
      if (!timingSafeEqual(digestOf(given), wanted))
        throw new OAuthError(OAuthErrorCode.InvalidToken, 'This token is not the one of the token file.');
      return { token: given, clientId: 'local', scopes: [], expiresAt: Math.ceil(Date.now() / 1000) + 60 };
    },
  };
  return async (request, response) => {
    try {
      await verifyBearerToken(request.headers.authorization, { verifier });
      return true;
    } catch (error) {
      const challenge = bearerAuthChallengeResponse(error);
      response.writeHead(challenge.status, Object.fromEntries(challenge.headers)).end(await challenge.text());
      return false;
    }
  };
}
