import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { EmptyNetwork } from '@litterbox/testing';

/** Addresses that an agent would try: two of the public internet, the metadata service of clouds, one of IPv6. */
export const FAKE_ADDRESSES = ['1.1.1.1', '8.8.8.8', '169.254.169.254', '2606:4700:4700::1111'] as const;

/**
 * A network namespace that plays the internet for another one that plays the machine: a veth pair, and a sink that hears every
 * frame on its end. Nothing of it touches the real network. Only root can make it.
 */
export interface FakeInternet extends AsyncDisposable {
  /** The machine's side. */
  readonly machine: EmptyNetwork;
  /** As that of the machine. */
  enter: EmptyNetwork['enter'];
  /** One line for each frame that was sent until now: protocol, addresses, ports. */
  heard(): Promise<readonly string[]>;
}

/** Ports from here on at 1.1.1.1 are the harness's own. */
const FIRST_PORT = 64_000;

/** Hears all frames with AF_PACKET and answers TCP, so that a connection would succeed. */
const SINK = `use strict; use Socket; $| = 1;
socket(my $packets, 17, 3, unpack('n', pack('S', 3))) or die "packet socket: $!";
my @listeners;
for my $port (53, 80, 443, 8080) {
  socket(my $tcp, AF_INET, SOCK_STREAM, 0) or die $!; setsockopt($tcp, SOL_SOCKET, SO_REUSEADDR, 1);
  bind($tcp, sockaddr_in($port, INADDR_ANY)) or die "bind $port: $!"; listen($tcp, 16); push @listeners, $tcp;
}
print "listening\\n";
while (1) {
  my $ready = ''; vec($ready, fileno($_), 1) = 1 for ($packets, @listeners);
  select($ready, undef, undef, undef);
  for my $tcp (@listeners) { next unless vec($ready, fileno($tcp), 1); accept(my $one, $tcp); syswrite($one, "HTTP/1.0 200 OK\\r\\n\\r\\nfake\\n") if $one; close $one if $one; }
  next unless vec($ready, fileno($packets), 1);
  my $sender = recv($packets, my $frame, 65535, 0);
  next if unpack('x10 C', $sender) == 4; # PACKET_OUTGOING: its own
  my $type = unpack('n', substr($frame, 12, 2));
  if ($type == 0x0800) { my ($protocol, $from, $to) = unpack('x9 C x2 a4 a4', substr($frame, 14));
    my $ihl = (ord(substr($frame, 14, 1)) & 15) * 4; my ($source, $target) = $protocol == 6 || $protocol == 17 ? unpack('nn', substr($frame, 14 + $ihl)) : (0, 0);
    print "ip$protocol ", inet_ntoa($from), ":$source > ", inet_ntoa($to), ":$target\\n"; }
  elsif ($type == 0x86dd) { my ($next, $kind) = unpack('x6 C x33 C', substr($frame, 14));
    # What the kernel itself says to its neighbours, with the hop-by-hop header of its group reports.
    print "ip6-$next\\n" unless $next == 0 || $next == 58 && $kind >= 130; }
  elsif ($type != 0x0806) { printf "frame %04x\\n", $type; }
}`;

export async function fakeInternet(): Promise<FakeInternet> {
  const machine = await EmptyNetwork.open();
  const internet = await EmptyNetwork.open();
  const ip = (network: EmptyNetwork, ...args: readonly string[]) => network.run('ip', ...args);
  try {
    ip(machine, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(internet.pid));
    ip(machine, 'address', 'add', '10.99.0.2/24', 'dev', 'eth0');
    ip(machine, 'address', 'add', 'fd99::2/64', 'dev', 'eth0', 'nodad');
    ip(internet, 'address', 'add', '10.99.0.1/24', 'dev', 'eth0');
    ip(internet, 'address', 'add', 'fd99::1/64', 'dev', 'eth0', 'nodad');
    for (const address of FAKE_ADDRESSES)
      ip(internet, 'address', 'add', address, 'dev', 'lo', ...(address.includes(':') ? ['nodad'] : []));
    for (const network of [machine, internet]) ip(network, 'link', 'set', 'eth0', 'up');
    ip(machine, 'route', 'add', 'default', 'via', '10.99.0.1');
    ip(machine, '-6', 'route', 'add', 'default', 'via', 'fd99::1');
    const [program, ...args] = internet.enter(['perl', '-e', SINK]);
    const sink = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let log = '';
    let lastPort = FIRST_PORT;
    sink.stdout.setEncoding('utf8').on('data', (text: string) => (log += text));
    const closed = once(sink, 'close');
    await Promise.race([once(sink.stdout, 'data'), closed]);
    if (!log.startsWith('listening')) throw new Error('The fake internet does not listen.');
    return {
      machine,
      enter: (argv) => machine.enter(argv),
      async heard() {
        // A datagram of our own comes after all that was sent before it.
        lastPort = lastPort === 65_535 ? FIRST_PORT : lastPort + 1;
        const own = `:${lastPort}`;
        machine.run('bash', '-c', `echo x >/dev/udp/1.1.1.1/${lastPort}`);
        while (!log.includes(`${own}\n`)) await once(sink.stdout, 'data');
        return log
          .split('\n')
          .slice(1, -1)
          .filter((line) => !/ > 1\.1\.1\.1:6[45]\d{3}$/.test(line));
      },
      async [Symbol.asyncDispose]() {
        sink.kill('SIGKILL');
        await closed;
        await machine[Symbol.asyncDispose]();
        await internet[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await machine[Symbol.asyncDispose]();
    await internet[Symbol.asyncDispose]();
    throw error;
  }
}
