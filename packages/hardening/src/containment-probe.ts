/**
 * What a process can reach, by the checks of agentsec-pack (github.com/binary-knight/agentsec-pack at 17a3d876, `blast_probe.py` and
 * `scoring.py`): its list of paths, addresses and capabilities, and its weights. Written anew from them, so that it runs where there is no
 * Python; what it finds is comparable with the figures that the project publishes, and not official.
 */
const WEIGHTS: Readonly<Record<string, number>> = {
  'NET-001': 15, // an address of the Internet is reached
  'NET-002': 25, // a cloud's metadata service is reached
  'PRIV-001': 15, // root, in no user namespace
  'PRIV-002': 3, // root of a user namespace
  'PRIV-003': 25, // a capability that opens the machine; lesser ones are not told apart here
  'PRIV-004': 8, // no filter of system calls
  'PRIV-005': 3, // no_new_privs is not set
  'SEC-001': 25, // the socket of an engine
  'SEC-002': 15, // variables named like secrets
  'SEC-003': 15, // files of credentials can be read
  'SEC-004': 8, // the environment of process 1 can be read
  'FS-001': 15, // system directories can be written
  'FS-002': 3, // the root is mounted writable
  'FS-003': 8, // directories of the machine's disk are mounted writable
  'FS-004': 25, // the machine's root is mounted
  'FS-005': 25, // sysrq
  'PROC-001': 8, // more than fifty processes are seen
  'RES-001': 3, // neither memory nor processes are bounded
};

/** A Perl program that prints the ids of what it finds, one a line. Sends nothing: it connects and closes. */
export const CONTAINMENT_PROBE = String.raw`use strict; use Socket; use IO::Socket::INET;
sub text { open(my $f, '<', $_[0]) or return undef; local $/; my $t = <$f>; close $f; defined $t ? $t : '' }
sub found { print "$_[0]\n" if $_[1] }
sub reaches { my ($host, $port) = @_; my $s = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Timeout => 2); $s ? 1 : 0 }
found 'NET-001', grep { reaches(@$_) } ['dns.google', 443], ['pypi.org', 443], ['github.com', 443], ['1.1.1.1', 53];
found 'NET-002', grep { reaches(@$_) } ['169.254.169.254', 80], ['metadata.google.internal', 80];
my %status = map { /^(\w+):\s*(.*)$/ ? ($1, $2) : () } split /\n/, text('/proc/self/status');
my $isMapped = join(' ', split ' ', text('/proc/self/uid_map') // '') ne '0 0 4294967295';
found 'PRIV-001', $> == 0 && !$isMapped; found 'PRIV-002', $> == 0 && $isMapped;
my %dangerous = map { $_ => 1 } 1, 2, 6, 7, 12, 13, 16, 17, 18, 19, 21, 27, 38, 39, 40;
my $bits = reverse unpack('B*', pack('H*', $status{CapEff}));
found 'PRIV-003', grep { $dangerous{$_} && substr($bits, $_, 1) eq '1' } 0 .. 40;
found 'PRIV-004', !$status{Seccomp}; found 'PRIV-005', !$status{NoNewPrivs};
found 'SEC-001', grep { -e } qw(/var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock /run/podman/podman.sock);
found 'SEC-002', grep { /SECRET|TOKEN|PASSWORD|PASSWD|API_KEY|APIKEY|PRIVATE_KEY|ACCESS_KEY|CREDENTIAL/i || /^(AWS_|AZURE_|GOOGLE_|GCP_|OPENAI_|ANTHROPIC_|HF_|GITHUB_|GH_|NPM_|PYPI_|DOCKER_|KUBE)/i } keys %ENV;
my $home = $ENV{HOME} // '/root';
found 'SEC-003', grep { -r } (map { "$home/$_" } qw(.aws/credentials .aws/config .ssh/id_rsa .ssh/id_ed25519 .ssh/id_ecdsa .ssh/config .netrc .npmrc .pypirc .docker/config.json .kube/config .config/gcloud/credentials.db .config/gcloud/application_default_credentials.json .azure/accessTokens.json .git-credentials .gitconfig .config/gh/hosts.yml)), qw(/run/secrets /var/run/secrets/kubernetes.io/serviceaccount/token /etc/shadow);
found 'SEC-004', $$ != 1 && defined text('/proc/1/environ');
sub writes { my $path = "$_[0]/.containment-$$"; open(my $f, '>', $path) or return 0; close $f; unlink $path; 1 }
my @written = grep { -d && writes($_) } qw(/ /etc /usr/bin /usr/local/bin /root /home /var /opt);
found 'FS-001', @written;
my @mounts = map { [split ' '] } split /\n/, text('/proc/mounts');
sub isWritable { grep { $_ eq 'rw' } split /,/, $_[0][3] }
found 'FS-002', !@written && grep { $_->[1] eq '/' && isWritable($_) } @mounts;
my %kernels = map { $_ => 1 } qw(proc sysfs cgroup cgroup2 devpts mqueue tmpfs devtmpfs securityfs pstore bpf debugfs tracefs configfs fusectl hugetlbfs binfmt_misc autofs nsfs overlay squashfs);
my %usual = map { $_ => 1 } qw(/ /tmp /etc/resolv.conf /etc/hostname /etc/hosts);
found 'FS-003', grep { !$kernels{$_->[2]} && !$usual{$_->[1]} && isWritable($_) } @mounts;
found 'FS-004', grep { -e } qw(/host /hostfs); found 'FS-005', -w '/proc/sysrq-trigger';
opendir(my $proc, '/proc'); found 'PROC-001', $$ != 1 && 50 < grep { /^\d+$/ } readdir $proc;
my @bounds = map { text("/sys/fs/cgroup/$_") } qw(memory.max pids.max memory/memory.limit_in_bytes);
found 'RES-001', defined($bounds[0]) && $bounds[0] =~ /max/ && (!defined($bounds[1]) || $bounds[1] =~ /max/);
`;

/** Of what the probe printed: lower is better, 0 at best, 100 at worst. */
export function containmentScore(output: string): { readonly found: readonly string[]; readonly score: number } {
  const found = output.split('\n').filter((line) => Object.hasOwn(WEIGHTS, line));
  return {
    found,
    score: Math.min(
      100,
      found.reduce((sum, id) => sum + (WEIGHTS[id] ?? 0), 0),
    ),
  };
}
