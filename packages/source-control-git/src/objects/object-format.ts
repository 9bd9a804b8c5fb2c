import { createHash, type Hash, hash } from 'node:crypto';
import { ObjectId } from '@litterbox/core/provider';

export type ObjectType = 'blob' | 'tree' | 'commit';

/** How a repository names its objects. */
export interface ObjectFormat {
  readonly name: 'sha1' | 'sha256';
  readonly byteLength: 20 | 32;
  readonly emptyTree: ObjectId;
}

const FORMATS: Readonly<Record<string, ObjectFormat>> = {
  sha1: { name: 'sha1', byteLength: 20, emptyTree: ObjectId.parse('4b825dc642cb6eb9a060e54bf8d69288fbee4904') },
  sha256: {
    name: 'sha256',
    byteLength: 32,
    emptyTree: ObjectId.parse('6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'),
  },
};

export function objectFormat(name: string): ObjectFormat | undefined {
  return FORMATS[name];
}

/** The hash of an object, its header already in it. */
export function startHash(format: ObjectFormat, type: ObjectType, sizeBytes: number): Hash {
  return createHash(format.name).update(`${type} ${sizeBytes}\0`);
}

/** Up to here one copy is cheaper than an object for the hash, which lives until all memory is looked through. */
const MAX_COPIED_BYTES = 64 * 1024;

export function hashObject(format: ObjectFormat, type: ObjectType, bytes: Uint8Array): ObjectId {
  if (bytes.length <= MAX_COPIED_BYTES) {
    const header = `${type} ${bytes.length}\0`;
    const whole = Buffer.allocUnsafe(header.length + bytes.length);
    whole.write(header, 'latin1');
    whole.set(bytes, header.length);
    return hash(format.name, whole, 'hex') as ObjectId;
  }
  return startHash(format, type, bytes.length).update(bytes).digest('hex') as ObjectId;
}
