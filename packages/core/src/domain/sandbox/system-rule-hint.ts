/** For whom a hint is: an agent can do less than a person. */
export type HintReader = 'agent' | 'person';

interface SystemRule {
  /** What programs say that run into it. */
  readonly words: RegExp;
  readonly rule: string;
  readonly way: Readonly<Record<HintReader, string>>;
}

const INSTALL = {
  agent:
    'install into the home or the workspace, or ask the person for a setup or an image that has it (setup-command, install-command in .litterbox.toml)',
  person:
    'install it on this machine, into the home of the sandbox (create --setup), or into an image (install-command in .litterbox.toml, with docker or podman)',
};
const anyone = (way: string) => ({ agent: way, person: way });

/** The rules of every sandbox that programs run into and do not name. The first one that fits is told. */
const SYSTEM_RULES: readonly SystemRule[] = [
  {
    words:
      /\b(?:sudo|doas): (?:command )?not found|\b(?:sudo|doas|su): (?:.*(?:setuid|no new privileges|immediate abort|effective uid))|\bare you root\b|must be (?:run as )?root\b|(?:superuser|root) privileges?|unless you are root|\/var\/lib\/(?:dpkg|apt|rpm)\b|^E: Unable to locate package|unable to lock database/im,
    rule: 'no program is root here, and the system is read-only',
    way: INSTALL,
  },
  {
    words: /read-only file system|\bEROFS\b|(?:\bEACCES\b|permission denied).{0,80}[ '"]\/(?:usr|opt|etc)\//i,
    rule: 'the system is read-only; workspace, home, playground and temporary directories can be written',
    way: INSTALL,
  },
  {
    words:
      /\b(?:unshare|u?mount|chroot|mknod|nsenter|bwrap|dmesg)\b.*(?:operation not permitted|permission denied|must be superuser)|no usable sandbox|failed to move to new namespace/i,
    rule: 'programs here cannot mount, or make devices or namespaces',
    way: anyone('a program with a sandbox of its own has to go without it, as Chromium does with --no-sandbox'),
  },
  {
    words: /cannot connect to the docker daemon|connection to your authentication agent|can(?:'t|not) open display/i,
    rule: 'sockets of the machine, such as those of Docker, of a key agent or of a display, are not in the sandbox',
    way: {
      agent: 'ask the person if you need one',
      person: 'run the program that needs one on this machine',
    },
  },
  {
    words: /not been booted with systemd|failed to connect to bus|\bsystemctl: (?:command )?not found/i,
    rule: 'there is no service manager here',
    way: anyone('start the program itself in the background, or give the sandbox a service in .litterbox.toml'),
  },
];

/**
 * What rule of the sandbox a program ran into, and what there is instead.
 *
 * @param text the end of what it printed: hostile
 */
export function systemRuleHint(text: string, reader: HintReader): string | undefined {
  const found = SYSTEM_RULES.find(({ words }) => words.test(text));
  return found && `${found.rule}: ${found.way[reader]}`;
}
