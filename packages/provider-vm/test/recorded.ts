// What the programs print, by their source: Lima's pkg/store/instance.go and pkg/sshutil, Colima's environment/vm/lima/limautil,
// WSL's src/windows/common/WslClient.cpp. Members that nothing reads stand for the many that there are.

/** `limactl list --json`: one object a line. */
export const LIMA_LIST = [
  {
    name: 'default',
    hostname: 'lima-default',
    status: 'Running',
    dir: '/Users/me/.lima/default',
    vmType: 'vz',
    arch: 'aarch64',
    cpuType: '',
    cpus: 4,
    memory: 4294967296,
    disk: 107374182400,
    sshLocalPort: 60022,
    sshConfigFile: '/Users/me/.lima/default/ssh.config',
    hostAgentPID: 4711,
    driverPID: 4711,
    limaVersion: '1.0.6',
    HostOS: 'darwin',
    HostArch: 'aarch64',
    LimaHome: '/Users/me/.lima',
    IdentityFile: '/Users/me/.lima/_config/user',
  },
  { name: 'Docker', status: 'Stopped', dir: '/Users/me/.lima/Docker', vmType: 'qemu', arch: 'x86_64' },
  { name: 'colima', status: 'Running', dir: '/Users/me/.lima/colima', arch: 'aarch64' },
  { name: 'bad', status: 'Broken', dir: '/Users/me/.lima/bad', errors: [{}] },
]
  .map((machine) => `${JSON.stringify(machine)}\n`)
  .join('');

/** `colima list --json`: one object a line, named by profile. */
export const COLIMA_LIST = [
  {
    name: 'default',
    status: 'Running',
    arch: 'aarch64',
    cpus: 2,
    memory: 2147483648,
    disk: 107374182400,
    runtime: 'docker',
  },
  { name: 'big', status: 'Stopped', arch: 'aarch64', cpus: 8, memory: 17179869184, disk: 107374182400 },
]
  .map((machine) => `${JSON.stringify(machine)}\n`)
  .join('');

/** `wsl.exe --list --verbose`, as it is in UTF-16 with the line ends of Windows. */
export const WSL_LIST = [
  '  NAME                   STATE           VERSION',
  '* Ubuntu-24.04           Running         2',
  '  docker-desktop         Stopped         2',
  '  Legacy                 Stopped         1',
  '  Debian                 Installing      2',
  '',
].join('\r\n');

/** The way in, as `limactl show-ssh --format=config` prints it; Colima's differs by the name alone. */
export const sshConfig = (
  name: string,
  { user, port, identityFile }: { user: string; port: number; identityFile: string },
) =>
  `Host ${name}
  IdentityFile "${identityFile}"
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  NoHostAuthenticationForLocalhost yes
  GSSAPIAuthentication no
  PreferredAuthentications publickey
  Compression no
  BatchMode yes
  IdentitiesOnly yes
  Ciphers "^aes128-gcm@openssh.com,aes256-gcm@openssh.com"
  User ${user}
  ControlMaster auto
  ControlPath "/Users/me/.lima/default/ssh.sock"
  ControlPersist yes
  Hostname 127.0.0.1
  Port ${port}
`;
