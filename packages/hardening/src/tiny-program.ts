const LOAD_ADDRESS = 0x400000n;
const HEADER_BYTES = 64 + 56;

/** A static x86-64 ELF program of nothing but these instructions: for what no compiler would write. */
export function tinyProgram(code: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(HEADER_BYTES + code.length);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]); // ELF, 64 bits, little-endian, version 1
  bytes.writeUInt16LE(2, 16); // executable
  bytes.writeUInt16LE(62, 18); // x86-64
  bytes.writeUInt32LE(1, 20);
  bytes.writeBigUInt64LE(LOAD_ADDRESS + BigInt(HEADER_BYTES), 24); // entry
  bytes.writeBigUInt64LE(64n, 32); // program headers
  bytes.writeUInt16LE(64, 52);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(1, 56);
  bytes.writeUInt32LE(1, 64); // PT_LOAD
  bytes.writeUInt32LE(5, 68); // readable, executable
  bytes.writeBigUInt64LE(LOAD_ADDRESS, 80);
  bytes.writeBigUInt64LE(LOAD_ADDRESS, 88);
  bytes.writeBigUInt64LE(BigInt(bytes.length), 96);
  bytes.writeBigUInt64LE(BigInt(bytes.length), 104);
  bytes.writeBigUInt64LE(0x1000n, 112);
  bytes.set(code, HEADER_BYTES);
  return bytes;
}
