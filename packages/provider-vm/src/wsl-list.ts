import { LitterboxError, shown } from '@litterbox/core/provider';
import { stateOf } from './state-of.ts';
import type { VirtualMachine } from './way.ts';

const MAX_DISTRIBUTIONS = 256;
/** A mark for the default one, its name, its state and the version of WSL. The words of the state are not translated. */
const ROW = /^([* ]) (\S.*?) +([A-Za-z]{1,32}) +([0-9]{1,2})$/;
/** What a host's name can be made of; of other distributions nobody can say the name. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/**
 * Reads the table of `wsl.exe --list --verbose`, the default one first. Its first line names the columns, in English or not.
 *
 * @throws LitterboxError `PROVIDER_PROTOCOL_ERROR`
 * @see https://github.com/microsoft/WSL/blob/master/src/windows/common/WslClient.cpp `ListDistributionsHelper`
 */
export function wslList(text: string): readonly VirtualMachine[] {
  const rows = text
    .split('\n')
    .slice(1)
    .filter((line) => line.trim() !== '');
  if (rows.length > MAX_DISTRIBUTIONS) throw unreadable(`it lists ${rows.length} distributions`);
  const found = rows.map((line) => {
    const [, mark, name = '', state = '', version] = ROW.exec(line.trimEnd()) ?? [];
    if (mark === undefined) throw unreadable(`it prints ${shown(line)}`);
    return { isDefault: mark === '*', name, state, version };
  });
  return found
    .filter(({ name }) => NAME.test(name) && !name.includes('..'))
    .toSorted((one, other) => Number(other.isDefault) - Number(one.isDefault))
    .map(({ name, state, version }) => ({
      name,
      state: stateOf(state),
      says: state,
      ...(version !== '2' && {
        refusal: `it runs on WSL ${version}, which has no kernel of its own: wsl --set-version ${name} 2`,
      }),
    }));
}

function unreadable(why: string): LitterboxError {
  return new LitterboxError('PROVIDER_PROTOCOL_ERROR', `The list of wsl.exe cannot be read: ${why}.`, {
    operation: 'host.list',
    hint: 'See what wsl.exe --list --verbose prints: a table with name, state and version.',
  });
}
