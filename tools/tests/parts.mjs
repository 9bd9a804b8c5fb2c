import { gateAgents, gateAttacks, gateFaults } from './samples.mjs';

/**
 * @typedef {object} Part One run of tests, in a process of its own.
 * @property {string} name
 * @property {'fast' | 'gate' | 'deep'} layer `fast`: no root, no engine, no build. `gate`: what every change has to pass. `deep`: all else
 * @property {string} why what it shows; of a part that takes some groups or titles only, why those
 * @property {readonly string[]} [files] regular expressions over paths of test files
 * @property {readonly string[]} [except] what of `files` is left out
 * @property {readonly string[]} [titles] only tests whose full title matches one of these regular expressions, each of which has to match
 * one at least; all tests without
 * @property {readonly [string, ...string[]]} [command] something else than test files
 * @property {'user'} [as] run by the tests' ordinary user
 * @property {'zfs'} [machine] its files run in the second machine, which `tools/test-vm.sh run` gives that; without /dev/kvm that takes
 * LITTERBOX_VM_EMULATE=1 and long
 * @property {boolean} [hasMachineBeside] its files run here while the second machine serves SSH, which `tools/test-vm.sh ssh` sees to; slow in the
 * same way
 * @property {'with' | 'where-built'} [cluster] its files run where the tests' own Kubernetes is reached: `tools/kubernetes/cluster.sh`
 * @property {readonly string[]} [uses] what one part at a time may use: two suites on one engine count each other's volumes
 * @property {boolean} [isAlone] nothing runs beside it; `why` says why
 * @property {boolean} [isPure] needs nothing of the prepared machine
 * @property {Readonly<Record<string, string>>} [env]
 * @property {number} [limitSeconds] when it is ended; 2700 without: it hangs then also on a machine that is five times slower than a good one
 */

/** Groups of the kit, as the start of titles. @param {...string} names */
const groups = (...names) => names.map((name) => `^SandboxProvider contract, ${name}: `);

const on = (provider) => ({ LITTERBOX_TEST_PROVIDER: provider });

/**
 * A namespace of an ordinary user begins with a copy of every mount and may give none back. What was deleted in a container's layers is not
 * free while a copy of their overlay lives, so that the kit's test of a full disk fails beside it.
 */
const KEPT_MOUNTS = 'kept-mounts';

/** Needs no root, no engine and no build. */
const FAST_FILES = [
  '^packages/[^/]+/src/',
  '^bench/src/',
  '^packages/network-gate/test/(find-rule|is-public-address|parse-connect|read-client-hello)\\.',
  '^packages/provider-docker/test/find-docker-engine\\.',
  '^packages/provider-podman/test/find-podman-engine\\.',
  '^packages/create-litterbox-provider/test/',
  '^packages/(memory|testing)/test/',
  '^packages/ai-sdk/test/(eve-sandbox|harness-sandbox|sandbox-session)\\.',
  '^packages/openai-agents/test/',
  '^packages/e2b/test/sdk\\.',
];
/** Property tests of the fast layer draw a fifth of their cases there, and five times all of them in the deep part. */
const FEW_RUNS = { LITTERBOX_FUZZ_RUNS: '0.2' };

/** @type {readonly Part[]} */
const FAST = [
  {
    name: 'fast-core',
    layer: 'fast',
    why: 'domain and parsers of core',
    files: ['^packages/core/src/domain/'],
    env: FEW_RUNS,
    isPure: true,
  },
  {
    name: 'fast-rest',
    layer: 'fast',
    why: 'the rest of core, use cases against ports in memory, and what of the other packages needs no machine',
    files: FAST_FILES,
    except: ['^packages/core/src/domain/'],
    env: FEW_RUNS,
    isPure: true,
  },
];

/** @type {readonly Part[]} */
const GATE = [
  { name: 'lint', layer: 'gate', why: 'every static check', command: ['sh', 'tools/lint.sh'], isPure: true },
  {
    name: 'kit-overlay',
    layer: 'gate',
    why: 'the whole kit on copy-on-write sandboxes, as root',
    files: ['^packages/provider-overlayfs/test/overlay\\.conformance'],
  },
  {
    name: 'kit-docker-gate',
    layer: 'gate',
    why: 'the kit on Docker, in the smallest image, but for what the channel does inside: the same programs pass that on overlay',
    files: ['^packages/provider-docker/test/busybox\\.conformance'],
    titles: ['^(?!SandboxProvider contract, (exec channel|services): )', 'channel: a timeout ends the whole tree'],
    uses: ['docker', KEPT_MOUNTS],
  },
  {
    name: 'kit-podman-gate',
    layer: 'gate',
    why: 'Podman shares the code of Docker; its engine answers differently about ends, pauses, mounts and limits',
    files: ['^packages/provider-podman/test/busybox'],
    titles: groups('lifecycle', 'run states', 'limits', 'traits'),
    uses: ['podman', KEPT_MOUNTS],
  },
  {
    name: 'kit-podman-rootless-gate',
    layer: 'gate',
    why: 'without root the user inside is the user outside, and some limits are refused by name',
    files: ['^packages/provider-podman/test/busybox'],
    titles: groups('traits', 'isolation', 'limits'),
    as: 'user',
    uses: ['podman-user', KEPT_MOUNTS],
  },
  {
    name: 'kit-docker-user-gate',
    layer: 'gate',
    why: "an ordinary user of root's engine reads none of what the kernel keeps for overlays, and enters no network",
    files: ['^packages/provider-docker/test/debian\\.conformance'],
    titles: ['files of the base were deleted', 'connect reaches a server', 'listen: another sandbox does not reach it'],
    as: 'user',
    uses: ['docker', KEPT_MOUNTS],
  },
  {
    name: 'kit-user-gate',
    layer: 'gate',
    why: 'an ordinary user has other mounts, another user namespace and delegated control groups',
    files: ['^packages/provider-overlayfs/test/overlay\\.conformance'],
    titles: groups('traits', 'isolation', 'limits', 'run states'),
    as: 'user',
    uses: [KEPT_MOUNTS],
  },
  {
    name: 'kit-strategies-gate',
    layer: 'gate',
    why: 'another strategy copies in another way: what it says of itself, its copies, and what comes along',
    files: ['^packages/provider-overlayfs/test/(copy|reflink|btrfs)\\.conformance'],
    titles: groups('traits', 'artefacts', 'copies'),
  },
  {
    name: 'kit-pipe-host-gate',
    layer: 'gate',
    why: 'a host whose files no other process sees: nothing may go around the port',
    files: ['^packages/provider-overlayfs/test/pipe-host'],
    titles: [...groups('streaming', 'traits'), '^the host behind a pipe'],
  },
  {
    name: 'far-machines',
    layer: 'gate',
    why: 'a machine behind shells, over SSH and in a virtual machine: the contract of a host, keys, logins, losses, several of them',
    files: [
      '^packages/far-host/test/',
      '^packages/provider-ssh/test/ssh-host\\.test',
      '^packages/litterbox/test/several-hosts',
      '^packages/provider-vm/test/',
    ],
    except: ['far-away'],
  },
  {
    name: 'kubernetes-gate',
    layer: 'gate',
    why: 'clusters that fail, lie, fall silent or speak the newer protocol, which the real one of the tests does not',
    files: [
      '^packages/provider-kubernetes/test/(pod-exec|api-errors|watching|assert-controls|deploy-files|agent-sandbox-answers|credentials|elsewhere)',
    ],
    isPure: true,
  },
  {
    name: 'kubernetes-smoke',
    layer: 'gate',
    why: 'a real cluster, where its programs were built: what the provider says of itself, on pods',
    files: ['^packages/provider-kubernetes/test/busybox\\.conformance'],
    titles: groups('traits'),
    cluster: 'where-built',
    uses: ['kubernetes'],
  },
  {
    name: 'engines-elsewhere-gate',
    layer: 'gate',
    why: 'engines on ports and behind SSH: who is trusted, streams that end on one side, and what of the kit a stream can break',
    files: [
      '^packages/provider-docker/test/(engine-over-tls\\.test|over-tls\\.kit|sidecar)',
      '^packages/provider-ssh/test/engine-over-ssh\\.test',
    ],
    titles: [
      '^an engine that cannot be trusted',
      '^an engine over TLS has sandboxes',
      '^a sandbox whose network cannot be entered from here is reached by a container beside it',
      '^an engine on a machine that is reached over SSH has sandboxes',
      ...groups('streaming'),
    ],
    uses: ['docker'],
  },
  {
    name: 'kit-ssh-gate',
    layer: 'gate',
    why: 'copy-on-write sandboxes over a real SSH server with a network of its own: what is carried, what the way is asked to do, lines that are cut',
    files: ['^packages/provider-ssh/test/(overlayfs\\.conformance|lost-lines|broken-links|include)'],
    titles: [
      '^files of the working tree on another machine come along with their times, by rsync',
      ...groups('streaming', 'traits', 'connections'),
      '^a machine behind a bad line (a base that is cut|what a command did)',
      '^a machine whose link (is down for a moment|refuses new)',
      '^two users of one machine',
    ],
  },
  {
    name: 'git',
    layer: 'gate',
    why: 'the contract of source control on git, and the ways into the repository of the person',
    files: [
      '^packages/source-control-git/test/(conformance|drift|integrate|sparse-checkout|persons-commits|costly-rules|base|record|large-files|untouched|revision-journal|hostile-archive|configured-paths|user-git)\\.',
    ],
    env: { LITTERBOX_FUZZ_RUNS: '0.1' },
  },
  {
    name: 'adapters',
    layer: 'gate',
    why: 'state on SQLite, this machine as a host, the network gate, endpoints, the door of the page, directories of sandboxes; not the directory sync, which runs in `adapters-deep`',
    files: [
      '^packages/(state-sqlite|host|network-gate|endpoints|conformance|container-engine|linux-sandbox)/test/',
      '^packages/review/test/door\\.',
      '^packages/provider-overlayfs/test/(confined-copy|foreign-overlays|scan-contents|scan-clocks|session-end|session-place|session-program|session-scanner)',
    ],
    except: [...FAST_FILES, 'broken-', 'engine-host\\.conformance', 'model\\.test', 'round-trip\\.fuzz'],
  },
  {
    name: 'fresh-upper',
    layer: 'gate',
    why: 'a layer that grew is frozen, and shows the same files and all that changed; forks and kills are in the deep tests',
    files: ['^packages/provider-overlayfs/test/fresh-upper'],
    titles: ['comes with the next session', 'shows the same files', 'moved before it, and touched after it'],
  },
  {
    name: 'main-job-overlay',
    layer: 'gate',
    why: 'the main job through library, command line and MCP; of the older form of the protocol the main one of its tests',
    files: [
      '^packages/litterbox/test/(main-job|field-setups|programs-started|round-trips|base-over|endpoints|exposed-secrets)',
      '^packages/mcp/test/(work|bundle|permission)\\.',
    ],
    titles: ['^(?!an agent at work \\(legacy\\)(?! 003: fixes))'],
  },
  {
    name: 'agents-gate',
    layer: 'gate',
    why: 'one test for each thing that agents are promised, and for what many of them or a kill leave',
    files: ['^packages/mcp/test/(tools|profiles|git-tool|http|services)\\.', '^packages/litterbox/test/processes'],
    titles: gateAgents,
  },
  {
    name: 'seats',
    layer: 'gate',
    why: "agents whose hands are in a sandbox: Codex's protocol on the real thing, the trial of a program, the command, and agents inside",
    files: ['^packages/agents/test/', '^packages/cli/test/(with|agent-run)\\.'],
    titles: [
      '^(?!litterbox with codex seats one agent at a time)(?!litterbox agent run (FC-449|ranks|FC-318: several))',
    ],
  },
  {
    name: 'command-line',
    layer: 'gate',
    why: 'the main job at the command line, where each command is a process, and what only a terminal and signals show',
    files: ['^packages/cli/test/(commands|cold-start|compiled-code)\\.'],
    titles: [
      'a cold',
      'AX196',
      'tells the whole story',
      'one JSON document',
      'refuses bad input',
      'refuses to lose work',
      'when it is interrupted',
      'pause, resume, restore and recover say',
      'a real terminal',
    ],
  },
  {
    name: 'main-job-docker',
    layer: 'gate',
    why: 'the main job through library, command line and MCP, in containers',
    files: [
      '^packages/litterbox/test/(main-job|round-trips|endpoints|exposed-secrets)',
      '^packages/mcp/test/work\\.',
      '^packages/cli/test/commands',
    ],
    titles: [
      'as few as each call needs',
      'one diff to accept',
      'a key that is nowhere inside',
      'AX184',
      'a person reads one diff and merges',
      'tells the whole story',
      'the setup command',
      'restore goes back',
    ],
    env: on('docker'),
    uses: ['docker'],
  },
  {
    name: 'main-job-podman',
    layer: 'gate',
    why: 'the main job through library, command line and MCP, on the other engine',
    files: ['^packages/litterbox/test/main-job', '^packages/mcp/test/work\\.', '^packages/cli/test/commands'],
    titles: ['one diff to accept', 'a person reads one diff and merges', 'tells the whole story'],
    env: on('podman'),
    uses: ['podman'],
  },
  {
    name: 'main-job-user',
    layer: 'gate',
    why: 'the main job of a person without root',
    files: ['^packages/litterbox/test/main-job', '^packages/mcp/test/work\\.', '^packages/cli/test/commands'],
    titles: ['one diff to accept', 'a person reads one diff and merges', 'tells the whole story', 'restore goes back'],
    as: 'user',
    uses: [KEPT_MOUNTS],
  },
  {
    name: 'attacks-gate',
    layer: 'gate',
    why: 'of each family of attacks those that stand nearest to its mechanism',
    files: ['^packages/hardening/test/attacks/'],
    titles: gateAttacks,
  },
  {
    name: 'faults-gate',
    layer: 'gate',
    why: 'of each family of faults one kill, one damage, one full disk',
    files: ['^packages/hardening/test/(faults|bad-input|wild)/'],
    titles: gateFaults,
  },
  {
    name: 'review-gate',
    layer: 'gate',
    why: 'the page in a real browser: hostile work runs nothing and hides nothing, and a decision is about what was shown',
    files: ['^packages/review/test/page\\.'],
    titles: ['^AX144: what an agent wrote runs nothing', '^the page takes the shown state'],
  },
  {
    name: 'example',
    layer: 'gate',
    why: 'an example of an adapter, from the sources',
    command: ['node', 'tools/tests/run-examples.mjs', 'ai-sdk'],
  },
  {
    name: 'outside-gate',
    layer: 'gate',
    why: 'a stranger makes a provider from packed packages, and embeds it',
    command: ['node', 'tools/outside/main.mjs', '--sample'],
  },
];

/** Runs a program of the hardening package from its sources. */
const HARDENING = ['node', '--no-warnings', '--conditions=@litterbox/source'];

/** @type {readonly Part[]} */
const DEEP = [
  {
    name: 'properties',
    why: 'the fast tests with five times the cases of their properties',
    files: FAST_FILES,
    env: { LITTERBOX_FUZZ_RUNS: '5' },
  },
  {
    name: 'review',
    why: 'the page in a real browser: hostile work, decisions, a large diff, axe',
    files: ['^packages/review/test/(page|coming-back)\\.'],
  },
  {
    name: 'git-deep',
    why: 'every property of recording, ignore rules and archives, kills, and broken source controls that the kit has to catch',
    files: ['^packages/source-control-git/test/'],
    except: ['/(integrate|base|untouched|conformance)\\.'],
  },
  {
    name: 'adapters-deep',
    why: 'models and broken implementations of state, host and sync',
    files: ['^packages/(state-sqlite|host|network-gate|endpoints|sync-rsync|conformance)/test/'],
  },
  {
    name: 'session-program-sanitized',
    why: 'the session program with sanitizers of addresses and of undefined behaviour, on more plans that are none',
    files: ['^packages/provider-overlayfs/test/session-(place|program|program-look|scanner)\\.'],
    titles: [
      '^a plan',
      '^one thing',
      '^the start',
      '^a copy',
      '^the way back',
      '^the directory',
      '^the relay',
      '^the link',
      '^a walker',
      '^the place',
      '^a place',
      '^a look',
    ],
    env: { LITTERBOX_SESSION_SANITIZERS: 'address,undefined', LITTERBOX_FUZZ_RUNS: '50' },
  },
  {
    name: 'session-program-arm64',
    why: 'the session program for arm64 in an emulator of its instructions: what it parses, makes, removes, copies and passes on',
    files: ['^packages/provider-overlayfs/test/session-program(-look)?\\.'],
    titles: [
      '^a plan',
      '^one thing',
      '^a copy',
      '^the way back',
      '^the directory',
      '^the removal',
      '^the relay',
      '^the link',
      '^a look',
    ],
    env: { LITTERBOX_SESSION_EMULATOR: 'qemu-aarch64-static' },
  },
  {
    name: 'overlay-broken-providers',
    why: 'providers that break the contract in one point each, which the kit has to catch',
    files: ['^packages/provider-overlayfs/test/broken-'],
  },
  {
    name: 'overlay-rest',
    why: 'disks, freezers, snapshots and ends of sessions',
    files: ['^packages/provider-overlayfs/test/'],
    except: ['conformance', 'broken-'],
  },
  {
    name: 'kit-docker',
    why: 'the whole kit on Docker, in the smallest image',
    files: ['^packages/provider-docker/test/busybox\\.conformance'],
    uses: ['docker', KEPT_MOUNTS],
  },
  { name: 'kit-reflink', why: 'the whole kit on reflinks', files: ['^packages/provider-overlayfs/test/reflink'] },
  {
    name: 'kit-btrfs',
    why: 'the whole kit on snapshots of Btrfs',
    files: ['^packages/provider-overlayfs/test/btrfs\\.conf'],
  },
  {
    name: 'kit-zfs',
    why: 'the whole kit on clones of ZFS, and kills, removals, limits and bases of other commits there; in a machine whose kernel has it',
    files: ['^packages/provider-overlayfs/test/zfs\\.', '^packages/litterbox/test/base-copies'],
    machine: 'zfs',
    limitSeconds: 7200,
    env: { LITTERBOX_VM_TIMEOUT: '7000', LITTERBOX_REQUIRE: 'overlayfs-zfs' },
  },
  { name: 'kit-copy', why: 'the whole kit on copies', files: ['^packages/provider-overlayfs/test/copy'] },
  {
    name: 'kit-pipe-host',
    why: 'the whole kit over a host behind a pipe',
    files: ['^packages/provider-overlayfs/test/pipe-host'],
  },
  {
    name: 'kit-ssh',
    why: 'the whole kit over SSH, and the contract of a host, with a delay too',
    files: ['^packages/provider-ssh/test/(overlayfs|ssh-host)\\.conformance', '^packages/far-host/test/far-away'],
  },
  {
    name: 'ssh-machine',
    why: 'a second machine with systemd, over SSH: limits of root and of an ordinary login, and a machine that starts again',
    files: ['^packages/provider-ssh/test/second-machine'],
    hasMachineBeside: true,
    limitSeconds: 3600,
  },
  {
    name: 'ssh-lines',
    why: 'sandboxes over SSH on lines and links that are cut, silent, lossy and slow, on a full disk, beside other users, with files of the working tree',
    files: ['^packages/provider-ssh/test/(lost-lines|broken-links|include|exposed-secrets)'],
  },
  {
    name: 'kit-ssh-user',
    why: 'the whole kit over SSH, for a login that is an ordinary user of the machine',
    files: ['^packages/provider-ssh/test/overlayfs\\.conformance'],
    env: { LITTERBOX_TEST_LOGIN: 'litterbox-test' },
    uses: [KEPT_MOUNTS],
  },
  {
    name: 'kit-ssh-docker',
    why: 'the whole kit on an engine of a machine that is reached over SSH',
    files: ['^packages/provider-ssh/test/docker\\.conformance'],
    uses: ['docker', KEPT_MOUNTS],
  },
  {
    name: 'kit-user',
    why: 'the whole kit of an ordinary user, on overlay',
    files: ['^packages/provider-overlayfs/test/overlay\\.conformance'],
    as: 'user',
  },
  {
    name: 'kit-user-strategies',
    why: 'the kit of an ordinary user with reflinks, copies and snapshots of Btrfs',
    files: ['^packages/provider-overlayfs/test/(reflink|copy|btrfs)\\.conformance'],
    as: 'user',
  },
  {
    name: 'overlay-rest-user',
    why: 'disks, freezers, snapshots, ends of sessions and the host of an ordinary user',
    files: ['^packages/provider-overlayfs/test/', '^packages/host/test/'],
    except: ['conformance', 'broken-'],
    as: 'user',
  },
  {
    name: 'kit-debian',
    why: 'the whole kit on Docker, in an image with the tools of GNU',
    files: ['^packages/provider-docker/test/debian'],
    uses: ['docker'],
  },
  {
    name: 'kit-kubernetes',
    why: 'the whole kit on pods of a real cluster',
    files: ['^packages/provider-kubernetes/test/busybox'],
    cluster: 'with',
    uses: ['kubernetes'],
  },
  {
    name: 'kit-kubernetes-debian',
    why: 'the kit on pods whose image has Perl: what listens inside and outside, and what may be different with tools of GNU',
    files: ['^packages/provider-kubernetes/test/debian'],
    cluster: 'with',
    uses: ['kubernetes'],
  },
  {
    name: 'kit-kubernetes-agent-sandbox',
    why: 'the whole kit on pods that agent-sandbox makes, by the stand-in for its controller',
    files: ['^packages/provider-kubernetes/test/agent-sandbox\\.conformance'],
    cluster: 'with',
    uses: ['kubernetes'],
  },
  {
    name: 'kubernetes-cases',
    why: 'pods of a real cluster: what a create asks, claims, a cluster without enforcement, and what others met',
    files: ['^packages/provider-kubernetes/test/'],
    except: [
      'conformance',
      'pod-exec',
      'api-errors',
      'watching',
      'assert-controls',
      'deploy-files',
      'agent-sandbox-answers',
      'credentials',
      'elsewhere',
    ],
    cluster: 'with',
    uses: ['kubernetes'],
  },
  {
    name: 'kit-podman',
    why: 'the whole kit on Podman',
    files: ['^packages/provider-podman/test/'],
    uses: ['podman'],
  },
  {
    name: 'kit-podman-rootless',
    why: 'the whole kit on Podman without root',
    files: ['^packages/provider-podman/test/'],
    as: 'user',
    uses: ['podman-user'],
  },
  {
    name: 'kit-docker-user',
    why: "root's engine for an ordinary user of it, who enters no container's network: what ports, services and a network stand on",
    files: ['^packages/provider-docker/test/debian\\.conformance'],
    titles: groups('traits', 'lifecycle', 'connections', 'listening', 'services', 'artefacts'),
    as: 'user',
    uses: ['docker'],
  },
  {
    name: 'kit-foreign-files',
    why: 'the whole kit over an engine that does not see the files of this machine',
    files: ['^packages/provider-docker/test/foreign-files\\.kit'],
  },
  {
    name: 'kit-over-tls',
    why: 'the whole kit over an engine on a port, by TLS, that does not see the files of this machine',
    files: ['^packages/provider-docker/test/over-tls\\.kit'],
  },
  {
    name: 'kit-engine-over-ssh',
    why: 'an engine whose socket is reached over SSH: the whole kit, and what is told of machines and engines that are not there',
    files: ['^packages/provider-ssh/test/engine-over-ssh'],
    uses: ['docker', KEPT_MOUNTS],
  },
  {
    name: 'kit-podman-over-ssh',
    why: 'the whole kit on Podman whose socket is reached over SSH: other answers of an engine with files of its own',
    files: ['^packages/provider-ssh/test/podman-over-ssh'],
    uses: ['podman', KEPT_MOUNTS],
  },
  {
    name: 'docker-rest',
    why: 'engines that fail, restart and lie, mounts, golden files of the hardening, the host in a container',
    files: ['^packages/provider-docker/test/', '^packages/container-engine/test/'],
    except: ['/(busybox|debian)\\.conformance', '\\.kit\\.'],
    uses: ['docker'],
  },
  {
    name: 'library',
    why: 'the library and adapters of frameworks on copy-on-write sandboxes: forks, network, services, supervisors, kept setups, lost state, memory',
    files: ['^packages/litterbox/test/', '^packages/ai-sdk/test/field-cases', '^packages/e2b/test/sandboxes\\.'],
    except: ['incremental-builds'],
  },
  {
    name: 'library-builds',
    why: 'builds of make, CMake, Cargo, TypeScript and Gradle go on inside where they stopped outside',
    files: ['^packages/litterbox/test/incremental-builds'],
  },
  {
    name: 'library-docker',
    why: 'the library in containers',
    files: ['^packages/litterbox/test/(base-over|field-setups|field-cases|fork|install|main-job|network|services)'],
    env: on('docker'),
    uses: ['docker'],
  },
  {
    name: 'library-kubernetes',
    why: 'the library on pods of a real cluster: the main job, services with ports, a network by a list',
    files: ['^packages/litterbox/test/(main-job|services-and-ports|network)'],
    // All but what pods have not: pauses, forks, files of the person's, and a count of the processes that were refused.
    titles: [
      'one diff to accept',
      'a name that is taken',
      'an eager tree',
      'of a conflict leaves',
      'need a yes',
      'needs force',
      'in which a command runs',
      'recover rebuilds',
      'no longer ignored',
      'hard links',
      'the setup command',
      'calls that changed nothing',
      'is what is merged',
      'open a shell',
      'a timeout keeps',
      'an exported tree',
      '^ports lead from',
      'FC-382',
      '^services start',
      '^services that fail',
      'are kept for other programs too',
      'the network of',
      'the network as',
      'what the network',
    ],
    env: on('kubernetes'),
    cluster: 'with',
    uses: ['kubernetes'],
  },
  {
    name: 'library-podman',
    why: 'the library in containers of Podman',
    files: [
      '^packages/litterbox/test/(base-over|exposed-secrets|field-setups|field-cases|fork|install|main-job|network|round-trips)',
    ],
    env: on('podman'),
    uses: ['podman'],
  },
  {
    name: 'library-user',
    why: 'the library of a person without root',
    files: ['^packages/litterbox/test/'],
    except: ['incremental-builds'],
    as: 'user',
  },
  {
    name: 'library-builds-user',
    why: 'the same builds of a person without root',
    files: ['^packages/litterbox/test/incremental-builds'],
    as: 'user',
  },
  { name: 'mcp', why: 'the server for agents, with the referees of others', files: ['^packages/mcp/test/'] },
  {
    name: 'mcp-docker',
    why: 'the server for agents, in containers; services are tested with Node, which the image does not have',
    files: ['^packages/mcp/test/(tools|work|network|limits)'],
    env: on('docker'),
    uses: ['docker'],
  },
  {
    name: 'mcp-podman',
    why: 'the server for agents, in containers of Podman',
    files: ['^packages/mcp/test/work'],
    env: on('podman'),
    uses: ['podman'],
  },
  {
    name: 'mcp-user',
    why: 'the server for agents of a person without root',
    files: ['^packages/mcp/test/'],
    as: 'user',
  },
  { name: 'cli', why: 'the command line', files: ['^packages/cli/test/'] },
  {
    name: 'seats-docker',
    why: 'agents whose hands are in containers, where the workspace is another directory',
    files: ['^packages/agents/test/', '^packages/cli/test/with\\.'],
    env: on('docker'),
    uses: ['docker'],
  },
  {
    name: 'cli-docker',
    why: 'the command line, in containers',
    files: ['^packages/cli/test/commands'],
    env: on('docker'),
    uses: ['docker'],
  },
  { name: 'cli-user', why: 'the command line of a person without root', files: ['^packages/cli/test/'], as: 'user' },
  {
    name: 'attacks-kernel',
    why: 'attacks on kernel, sockets and resources',
    files: ['^packages/hardening/test/attacks/(a41|a45|a51|ax25|ax35|ax53|ax56|ax205|harness|referee)'],
  },
  {
    name: 'attacks-files',
    why: 'attacks by paths and arguments, in the library and over MCP',
    files: ['^packages/hardening/test/attacks/(a25|ax20-|ax31|ax34|ax50|ax51|ax55|ax63|ax74|ax80)'],
  },
  {
    name: 'attacks-git',
    why: 'attacks on the repository and the eyes of the person',
    files: ['^packages/hardening/test/attacks/(a01|a09|a22|ax23|ax32|ax90)'],
  },
  {
    name: 'attacks-network',
    why: 'attacks on network, secrets and gate',
    files: ['^packages/hardening/test/attacks/(a77|a79|a81|a82|ax27|ax84)', '^packages/hardening/test/security-page'],
  },
  {
    name: 'attacks-user',
    why: 'attacks on the kernel as an ordinary user',
    files: ['^packages/hardening/test/attacks/(a41|a45|a51|ax25|ax31|ax35|ax50|ax51|ax53|ax56|ax74|ax80|ax205)'],
    as: 'user',
  },
  {
    name: 'bad-input',
    why: 'bad input through configuration, library, command line and MCP',
    files: ['^packages/hardening/test/bad-input'],
  },
  { name: 'wild', why: 'repositories as they are found', files: ['^packages/hardening/test/wild'] },
  {
    name: 'faults-disk',
    why: 'full disks, failing calls, power cuts',
    files: ['^packages/hardening/test/faults/disk'],
  },
  {
    name: 'faults-damage',
    why: 'damage, signals, failpoints',
    files: ['^packages/hardening/test/faults/(damage|failpoints|signals)'],
  },
  {
    name: 'kills-create',
    why: 'kills at every point of create and fork',
    files: ['^packages/hardening/test/faults/kill-(create|fork)'],
    uses: ['docker'],
  },
  {
    name: 'kills-work',
    why: 'kills at every point of commands, milestones and management',
    files: ['^packages/hardening/test/faults/kill-(work|manage)'],
  },
  {
    name: 'kills-integrate',
    why: 'kills at every point of apply and merge',
    files: ['^packages/hardening/test/faults/kill-integrate'],
  },
  {
    name: 'kills-engine',
    why: 'kills at every point in containers',
    files: ['^packages/hardening/test/faults/kill-engine'],
    uses: ['docker'],
  },
  {
    name: 'faults-user',
    why: 'damage, signals and failpoints, of an ordinary user: small file systems and power cuts take root',
    files: ['^packages/hardening/test/faults/(damage|failpoints|signals)'],
    as: 'user',
  },
  {
    name: 'kills-user',
    why: 'kills at every point of create, fork, commands and milestones, of an ordinary user',
    files: ['^packages/hardening/test/faults/kill-(create|fork|work|manage|integrate)'],
    as: 'user',
  },
  {
    name: 'model',
    why: 'programs that are killed and frozen at random, and their history',
    files: ['^packages/hardening/test/model'],
  },
  {
    name: 'crowd',
    why: 'many servers and command lines on one repository',
    files: ['^packages/hardening/test/crowd'],
    uses: ['docker'],
  },
  {
    name: 'sweep-sample',
    why: 'failing kernel calls, a sample of them',
    files: ['^packages/hardening/test/faults/sweep'],
  },
  {
    name: 'power-cuts',
    why: 'cuts of the power behind acknowledged revisions, 200 or as many as eight minutes hold',
    files: ['^packages/hardening/test/faults/disk'],
    titles: ['^a power cut after acknowledged revisions'],
    env: { LITTERBOX_CUTS_SECONDS: '480' },
  },
  {
    name: 'soak',
    why: 'the model for eight minutes',
    command: [...HARDENING, 'packages/hardening/src/model/soak.ts'],
    env: { LITTERBOX_SOAK_SECONDS: '480' },
  },
  {
    name: 'crowd-overlay',
    why: 'twenty servers and four command lines for five minutes',
    command: [...HARDENING, 'packages/hardening/src/crowd/crowd.ts', '300', 'overlayfs'],
  },
  {
    name: 'crowd-docker',
    why: 'the same in containers',
    command: [...HARDENING, 'packages/hardening/src/crowd/crowd.ts', '300', 'docker'],
    uses: ['docker'],
  },
  ...['create', 'run', 'record', 'milestone', 'apply', 'merge', 'delete'].map((operation) => ({
    name: `sweep-${operation}`,
    why: `a kill of ${operation} at one call of the kernel after the other, for four minutes`,
    command: [...HARDENING, 'packages/hardening/src/faults/sweep-all.ts'],
    env: { LITTERBOX_SWEEP: operation, LITTERBOX_SWEEP_SECONDS: '240' },
  })),
  ...['small', 'node', 'redis', 'git'].map((part) => ({
    name: `projects-${part}`,
    why: 'programs by others, built and tested outside and inside: they end alike',
    command: ['node', 'tools/projects/main.mjs', '--part', part],
  })),
  {
    name: 'examples',
    why: 'every example that needs no login, with the frameworks that it names',
    command: ['node', 'tools/tests/run-examples.mjs'],
  },
  {
    name: 'outside',
    why: 'a stranger makes a provider from published packages and runs the whole kit on it',
    command: ['node', 'tools/outside/main.mjs'],
  },
].map((part) => ({ layer: 'deep', ...part }));

/** @type {readonly Part[]} */
export const PARTS = [...FAST, ...GATE, ...DEEP];
