import { decodeRaw, type HostFacts, LitterboxError, visibleName } from '@litterbox/core/provider';

/** What a far machine tells of itself when a connection begins. */
export interface FarFacts {
  readonly facts: HostFacts;
  /** The environment that the login there gives to its programs. */
  readonly environment: Readonly<Record<string, string>>;
  /** Content of `/etc/machine-id`: another value is another machine. Absent where there is none. */
  readonly machineId?: string;
}

/** Numbers of users and groups have 32 bits. */
const isUser = (text: string): boolean => /^[0-9]{1,10}$/.test(text) && Number(text) < 2 ** 32;
/** What a kernel calls itself, its machine and its starts. Empty where it does not tell. */
const WORD = /^[\w.+~@:#()/-]{0,128}$/;
/** No search path of a login has more. */
const MAX_DIRECTORIES = 256;

/** A path that becomes part of scripts and of messages. */
const isDirectory = (path: string): boolean => path.startsWith('/') && path === visibleName(path, 4096);

/** Shell text that prints what {@link parseFarFacts} reads: values and variables, each with a NUL behind it. */
export const FACTS_SCRIPT = `lb_of() { if [ -r "$1" ]; then read -r lb_line <"$1"; printf '%s\\0' "$lb_line"; else printf '\\0'; fi; }
printf '%s\\0' "$(uname -s)" "$(uname -m)" "$(uname -r)" "$(id -u)" "$(id -g)" "$HOME" "$lb_path"
lb_of /proc/sys/kernel/random/boot_id
lb_of /etc/machine-id
cat /proc/$$/environ`;

/** @throws LitterboxError `PROVIDER_PROTOCOL_ERROR` for what is no answer of {@link FACTS_SCRIPT} */
export function parseFarFacts(host: string, bytes: Uint8Array): FarFacts {
  const [
    system = '',
    architecture = '',
    kernelRelease = '',
    uid = '',
    gid = '',
    home = '',
    path = '',
    bootId = '',
    machineId = '',
    ...rest
  ] = decodeRaw(bytes).split('\0');
  const isPerson = [uid, gid].every(isUser) && isDirectory(home);
  if (!isPerson || ![system, architecture, kernelRelease, bootId, machineId].every((text) => WORD.test(text))) {
    throw new LitterboxError(
      'PROVIDER_PROTOCOL_ERROR',
      `${host} does not report its system, user and home directory.`,
      {
        operation: 'host.facts',
        hint: 'Log in there by hand, and check whether uname -srm prints words, id -u a number, and HOME is an absolute path.',
      },
    );
  }
  const environment = Object.create(null) as Record<string, string>;
  for (const variable of rest) {
    const at = variable.indexOf('=');
    if (at > 0) environment[variable.slice(0, at)] = variable.slice(at + 1);
  }
  const directories = path.split(':').filter(isDirectory).slice(0, MAX_DIRECTORIES);
  return {
    facts: {
      platform: system.toLowerCase(),
      architecture,
      kernelRelease,
      uid: Number(uid),
      gid: Number(gid),
      homeDirectory: home,
      searchPath: directories.length > 0 ? directories : ['/usr/local/bin', '/usr/bin', '/bin'],
      bootId: bootId || 'unknown',
    },
    environment,
    ...(machineId !== '' && { machineId }),
  };
}
