import { type HelloState, MAX_HELLO_BYTES, readClientHello } from './read-client-hello.ts';

/** Records that may come before it: the change of ciphers that many clients send for the sake of old boxes, and data sent early. */
const BEFORE = new Set([20, 23]);
/** As much as servers let clients send early, and the hello. */
const MAX_BYTES = 64 * 1024 + MAX_HELLO_BYTES;

/** Reads the hello that a client sends once more because the server asked for it, after what it may have sent before it. */
export function readSecondHello(bytes: Buffer): HelloState {
  let at = 0;
  while (BEFORE.has(bytes[at] ?? -1)) {
    if (at > MAX_BYTES) return { type: 'refused', reason: 'its second TLS hello did not come' };
    const end = at + 5;
    if (end > bytes.length) return { type: 'incomplete', wantedBytes: end };
    at = end + bytes.readUInt16BE(at + 3);
  }
  if (at >= bytes.length) return { type: 'incomplete', wantedBytes: at + 1 };
  const state = readClientHello(bytes.subarray(at, at + MAX_HELLO_BYTES));
  return state.type === 'incomplete' ? { ...state, wantedBytes: at + state.wantedBytes } : state;
}
