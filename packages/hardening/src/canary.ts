import { randomBytes } from 'node:crypto';

/** A secret that nobody but this test knows, and where it was put. Found anywhere else, it has leaked. */
export interface Canary {
  readonly place: string;
  readonly secret: string;
}

/** The slash and the space make its URL-encoded form differ from the plain one. */
export function canary(place: string): Canary {
  return { place, secret: `canary/${place} ${randomBytes(16).toString('hex')}` };
}

/** The secret as it may stand in other bytes: plain, reversed, hexadecimal, URL-encoded, base64 at any of its three offsets. */
export function formsOf({ secret }: Canary): readonly string[] {
  const random = secret.slice(-32);
  const hex = (text: string) => Buffer.from(text).toString('hex');
  return [
    random,
    Buffer.from(random).reverse().toString(),
    hex(random),
    hex(random).toUpperCase(),
    hex(random).replace(/../g, '%$&'),
    hex(random).toUpperCase().replace(/../g, '%$&'),
    ...[0, 1, 2].map((offset) => base64At(random, offset)),
  ];
}

/** What of the base64 form does not depend on the bytes before and after it. */
function base64At(text: string, offset: number): string {
  const whole = Buffer.from('x'.repeat(offset) + text).toString('base64');
  const first = Math.ceil((offset * 4) / 3);
  return whole.slice(first === 0 ? 0 : first + 1, -4).replace(/=+$/, '');
}
