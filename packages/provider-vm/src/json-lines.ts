import { LitterboxError, shown } from '@litterbox/core/provider';
import * as z from 'zod';

/** Nobody keeps more machines. */
const MAX_MACHINES = 256;

/** What Lima and Colima say of one machine. Other members are theirs. */
const machine = z.object({
  // Lima, pkg/identifiers: letters and digits with single `.`, `_`, `-` in between. Safe as an argument.
  name: z
    .string()
    .regex(/^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$/)
    .max(63),
  status: z.string().max(64).default(''),
});

/**
 * Reads a list with one JSON object on each line; nothing at all is an empty list.
 *
 * @throws LitterboxError `PROVIDER_PROTOCOL_ERROR`
 * @see https://github.com/lima-vm/lima/blob/master/pkg/store/instance.go `Instance`
 * @see https://github.com/abiosoft/colima/blob/main/environment/vm/lima/limautil/instance.go `InstanceInfo`
 */
export function jsonLines(program: string, bytes: Uint8Array): readonly z.output<typeof machine>[] {
  const lines = new TextDecoder().decode(bytes).split('\n');
  const wanted = lines.filter((line) => line.trim() !== '');
  if (wanted.length > MAX_MACHINES) throw unreadable(program, `it lists ${wanted.length} machines`);
  return wanted.map((line) => {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw unreadable(program, `it prints ${shown(line)}`);
    }
    const result = machine.safeParse(value);
    if (!result.success) throw unreadable(program, `${result.error.issues[0]?.path.join('.') || 'a line'} is none`);
    return result.data;
  });
}

function unreadable(program: string, why: string): LitterboxError {
  return new LitterboxError('PROVIDER_PROTOCOL_ERROR', `The list of ${program} cannot be read: ${why}.`, {
    operation: 'host.list',
    hint: `See what ${program} list --json prints: one object a line, each with name and status.`,
  });
}
