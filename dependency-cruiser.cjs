// Who may import whom. tools/check-boundaries.mjs plants one violation of every rule and sees it reported.
const tests = '\\.test\\.ts$|^packages/[^/]+/test/';

/** Folders of a folder, from the ground up: none imports a later one, nor what lies beside them. */
const ROOMS = {
  'core/src/domain': ['text', 'errors', 'paths', 'processes', 'secrets', 'sandbox', 'patch', 'search'],
  'core/src/use-cases': [
    'common',
    'network',
    'keeper',
    'session',
    'record',
    'decide',
    'prepare',
    'work',
    'create',
    'review',
    'remove',
    'go-back',
  ],
  'core/src/ports': ['common', 'machine', 'source-control', 'sandbox', 'state', 'network', 'person'],
  'provider-overlayfs/src': ['plan', 'machine', 'layers', 'strategies', 'session'],
  'linux-sandbox/src': [
    'kernel',
    'loopback',
    'script',
    'program',
    'directory',
    'snapshots',
    'disk',
    'artefacts',
    'session',
  ],
  'source-control-git/src': [
    'git',
    'objects',
    'store',
    'person',
    'ignore',
    'large-files',
    'base',
    'record',
    'publish',
    'settle',
    'plan',
    'integrate',
  ],
  'cli/src': ['terminal', 'words'],
  'core/src/config': ['settings'],
  'core/src/operations': ['declare', 'work', 'review'],
  'core/src/operations/tools': ['text'],
  'state-sqlite/src': ['database'],
  'memory/src': ['tools', 'machine', 'state', 'repository', 'provider', 'ports'],
  'testing/src': ['tools', 'remote', 'fixtures'],
  'container-engine/src': ['inside', 'address', 'engine', 'process', 'far-files', 'container', 'sandbox', 'elsewhere'],
};
const ROOM_RULES = Object.entries(ROOMS).flatMap(([folder, rooms]) =>
  rooms.map((room, index) => ({
    name: 'rooms-import-downwards',
    comment: 'The README of the folder says what it may import.',
    severity: 'error',
    from: { path: `^packages/${folder}/${room}/`, pathNot: tests },
    to: { path: `^packages/${folder}/(?!(${rooms.slice(0, index + 1).join('|')})/)` },
  })),
);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'core-is-pure',
      comment:
        'core knows web-standard globals, four pure libraries and itself: no Node built-ins, no sibling package.',
      severity: 'error',
      from: { path: '^packages/core/src/', pathNot: tests },
      to: { pathNot: ['^packages/core/src/', '(^|/)node_modules/(zod|smol-toml|diff|@eslint-community/regexpp)/'] },
    },
    {
      name: 'inversify-in-one-file',
      comment: 'The container is wired in the composition root; everything else has plain constructors.',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/litterbox/src/composition-root\\.ts$' },
      to: { path: '(^|/)node_modules/(inversify|@inversifyjs|reflect-metadata)/' },
    },
    {
      name: 'simple-git-in-one-file',
      comment: 'Environment, settings and bounds of what simple-git runs are set there; its own guard is no boundary.',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/source-control-git/src/git/user-git\\.ts$' },
      to: { path: '(^|/)node_modules/(simple-git|@simple-git|@kwsites)/' },
    },
    {
      name: 'litterbox-wires-core-only',
      comment: 'The façade knows no adapter but the parts that it loads by name, in one file.',
      severity: 'error',
      from: {
        path: '^packages/litterbox/src/',
        pathNot: [tests, '^packages/litterbox/src/(load-parts|at-once|open-for-[a-z]+|testing|testing/.*)\\.ts$'],
      },
      to: { path: '^packages/(?!core/|litterbox/)' },
    },
    {
      name: 'parts-loaded-by-name',
      comment: 'The parts that come along, and never a provider.',
      severity: 'error',
      from: { path: '^packages/litterbox/src/(load-parts|at-once|open-for-[a-z]+)\\.ts$' },
      to: {
        path: '^packages/(?!core/|litterbox/|host/|endpoints/|network-gate/|source-control-git/|state-sqlite/|sync-rsync/)',
      },
    },
    {
      name: 'litterbox-without-node',
      comment: 'Node built-ins belong to adapters.',
      severity: 'error',
      from: { path: '^packages/litterbox/src/', pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'domain-is-the-ground',
      comment: 'What the domain is made of knows no port: ports speak in its words.',
      severity: 'error',
      from: { path: '^packages/core/src/domain/', pathNot: tests },
      to: { path: '^packages/', pathNot: '^packages/core/src/domain/' },
    },
    {
      name: 'adapters-know-core-only',
      comment: 'Adapters and the conformance kit meet their siblings through ports of core.',
      severity: 'error',
      from: {
        path: '^packages/(host|source-control-git|state-sqlite|sync-rsync|network-gate|endpoints|conformance)/src/',
        pathNot: tests,
      },
      to: { path: '^packages/(?!core/|$1/)' },
    },
    {
      name: 'sandbox-kit-needs-no-machine',
      comment: 'Parts that need a spawn into a sandbox alone, so that a pod can use them as well as a namespace.',
      severity: 'error',
      from: { path: '^packages/sandbox-kit/src/', pathNot: tests },
      to: { path: '^packages/(?!core/|sandbox-kit/)|^(?!packages/|node_modules/)' },
    },
    {
      name: 'linux-sandbox-stands-on-the-kit',
      comment: 'Parts that need a Linux host reach it through the port alone.',
      severity: 'error',
      from: { path: '^packages/linux-sandbox/src/', pathNot: tests },
      to: { path: '^packages/(?!core/|sandbox-kit/|linux-sandbox/)|^(?!packages/|node_modules/)' },
    },
    {
      name: 'providers-know-core-and-kits',
      comment: 'A provider is made of ports of core and of the two kits, and meets its siblings through ports.',
      severity: 'error',
      from: {
        path: '^packages/(container-engine|provider-[^/]+)/src/',
        pathNot: [tests, '^packages/provider-(docker|podman|ssh|vm)/'],
      },
      to: { path: '^packages/(?!core/|sandbox-kit/|linux-sandbox/|$1/)' },
    },
    {
      name: 'far-host-needs-shells-alone',
      comment: 'A machine behind shells is reached through a transport, and by nothing of Node.',
      severity: 'error',
      from: { path: '^packages/far-host/src/', pathNot: tests },
      to: { path: '^packages/(?!core/|sandbox-kit/|linux-sandbox/|far-host/)|^(?!packages/|node_modules/)' },
    },
    {
      name: 'ssh-is-a-way-to-a-host',
      comment: 'It brings a host, over which any provider works: it knows none.',
      severity: 'error',
      from: { path: '^packages/provider-ssh/src/', pathNot: tests },
      to: { path: '^packages/(?!core/|far-host/|provider-ssh/)' },
    },
    {
      name: 'vm-is-a-way-to-a-host',
      comment:
        'Machines of this computer are reached over SSH or by shells: it knows no provider that works over them.',
      severity: 'error',
      from: { path: '^packages/provider-vm/src/', pathNot: tests },
      to: { path: '^packages/(?!core/|far-host/|provider-ssh/|provider-vm/)' },
    },
    {
      name: 'engines-share-one-package',
      comment: 'What Docker and Podman have in common is theirs alone.',
      severity: 'error',
      from: { path: '^packages/(provider-(?:docker|podman))/src/', pathNot: tests },
      to: { path: '^packages/(?!core/|sandbox-kit/|linux-sandbox/|container-engine/|$1/)' },
    },
    {
      name: 'implementors-use-the-provider-door',
      comment: 'What implements a port imports @litterbox/core/provider: what third parties get must be enough.',
      severity: 'error',
      from: {
        path: [
          '^packages/(host|source-control-git|state-sqlite|sync-rsync|network-gate|endpoints|conformance|sandbox-kit|linux-sandbox|far-host|container-engine|providers|provider-[^/]+)/src/',
          '^packages/create-litterbox-provider/templates/[^/]+/src/',
        ],
        pathNot: tests,
      },
      to: { path: '^packages/core/', pathNot: '^packages/core/src/provider\\.ts$' },
    },
    {
      name: 'providers-are-strangers',
      comment:
        'No provider may know another one, not even in its tests; the way to a machine is tried with those that go it.',
      severity: 'error',
      from: {
        path: '^packages/provider-([^/]+)/',
        pathNot: '^packages/provider-(ssh|vm)/test/|^packages/provider-vm/src/',
      },
      to: { path: '^packages/provider-', pathNot: '^packages/provider-$1/' },
    },
    {
      name: 'providers-in-one-place',
      comment: 'The providers that come along are named by one package, and by what breaks them on purpose.',
      severity: 'error',
      from: {
        path: '^packages/',
        pathNot: [
          tests,
          '^packages/(providers|hardening|provider-[^/]+)/',
          '^packages/create-litterbox-provider/templates/',
        ],
      },
      to: { path: '^packages/provider-' },
    },
    {
      name: 'providers-load-when-asked',
      comment: 'Whoever lists sandboxes of one provider does not load the others.',
      severity: 'error',
      from: { path: '^packages/providers/src/', pathNot: tests },
      to: { path: '^packages/provider-', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'providers-are-all-it-knows',
      comment:
        'It wires nothing: that is for who is given its loaders. Of the machine it knows what lies in a repository.',
      severity: 'error',
      from: { path: '^packages/providers/src/', pathNot: tests },
      to: { path: '^packages/(?!core/|providers/|provider-|host/)' },
    },
    {
      name: 'agents-have-their-own-door',
      comment:
        'What agents reach comes from /agent: nothing behind it deletes, applies, merges, trusts or writes configuration.',
      severity: 'error',
      from: {
        path: ['^packages/mcp/src/', '^packages/litterbox/src/(agent|agent-use-cases|open-for-agents)\\.ts$'],
        pathNot: tests,
      },
      to: {
        path: '^packages/(core|litterbox|source-control-git)/src/index\\.ts$|^packages/litterbox/src/(person-use-cases|open-for-people|create-litterbox|performer)\\.ts$',
      },
    },
    {
      name: 'agents-reach-no-person',
      comment: 'Not by way of another file either.',
      severity: 'error',
      from: { path: '^packages/core/src/agent\\.ts$' },
      to: {
        path: '^packages/core/src/wiring/person-use-cases\\.ts$|^packages/core/src/use-cases/[a-z-]+/(delete-sandbox|integrate-changes|write-notes|trust-config|restore-revision|change-run-state|reconcile)\\.ts$',
        reachable: true,
      },
    },
    {
      name: 'cli-is-not-a-testkit',
      comment: 'The conformance kit is for tests.',
      severity: 'error',
      from: { path: '^packages/cli/src/', pathNot: tests },
      to: { path: '^packages/conformance/' },
    },
    {
      name: 'cli-works-by-operations',
      comment:
        'Commands reach sandboxes and repositories by the operations of core alone, through litterbox/performer: what makes those never stands in a command. State and host are opened for what is a person’s on this machine: the list of other machines, a keeper.',
      severity: 'error',
      from: { path: '^packages/cli/src/', pathNot: tests },
      to: { path: '^packages/(?!agents/|cli/|core/|e2b/|litterbox/|mcp/|providers/|review/|host/|state-sqlite/)' },
    },
    {
      name: 'review-works-by-operations',
      comment: 'The page shows what operations of core give, and decides through them alone.',
      severity: 'error',
      from: { path: '^packages/review/src/', pathNot: [tests, '^packages/review/src/page/'] },
      to: { path: '^packages/(?!review/src/(?!page/)|core/|litterbox/src/performer\\.ts$)' },
    },
    {
      name: 'the-page-stands-alone',
      comment:
        'What runs in a browser is given text that is harmless already: it reaches nothing of ours and nothing of Node.',
      severity: 'error',
      from: { path: '^packages/review/src/page/', pathNot: tests },
      to: { pathNot: '^packages/review/src/page/|(^|/)node_modules/(?:highlight\\.js|diff)/' },
    },
    {
      name: 'agents-stand-on-the-library',
      comment: 'Protocols of agents are served with what every embedder has: core knows none of them.',
      severity: 'error',
      from: { path: '^packages/agents/src/', pathNot: tests },
      to: { path: '^packages/(?!agents/|litterbox/src/(?:index|agent)\\.ts$)' },
    },
    {
      name: 'frameworks-stand-on-the-library',
      comment: 'An adapter of a framework is made of what every embedder has.',
      severity: 'error',
      from: { path: '^packages/(ai-sdk|e2b|openai-agents)/src/', pathNot: tests },
      to: { path: '^packages/(?!$1/|litterbox/src/index\\.ts$)' },
    },
    {
      name: 'fakes-know-core-only',
      comment: 'What stands in for an adapter shares nothing with one but the parts that need no machine.',
      severity: 'error',
      from: { path: '^packages/(memory|testing)/src/', pathNot: tests },
      to: { path: '^packages/(?!core/|sandbox-kit/|memory/|testing/)' },
    },
    {
      name: 'memory-needs-no-machine',
      comment: 'Ports in memory write nothing and start nothing: of Node they have digests and a timer.',
      severity: 'error',
      from: { path: '^packages/memory/src/', pathNot: tests },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|timers/promises)$' },
    },
    {
      name: 'fakes-are-for-tests',
      comment: 'Of what is published only litterbox/testing stands on ports in memory.',
      severity: 'error',
      from: {
        path: '^packages/(?!memory/|testing/|hardening/)[^/]+/src/',
        pathNot: [tests, '^packages/litterbox/src/testing(/|\\.ts$)'],
      },
      to: { path: '^packages/(memory|testing)/' },
    },
    {
      name: 'testing-is-a-door-apart',
      comment: 'Whoever uses the library loads no ports in memory.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: [tests, '^packages/litterbox/src/testing(/|\\.ts$)'] },
      to: { path: '^packages/litterbox/src/testing(/|\\.ts$)' },
    },
    {
      name: 'packages-have-doors',
      comment: 'A sibling is reached by its name, never by a path into its folder.',
      severity: 'error',
      from: { path: '^(packages/[^/]+|bench)/' },
      to: {
        path: '^packages/',
        pathNot: ['^$1/', '^packages/[^/]+/src/(index|provider|agent|at-once|performer|start|testing)\\.ts$'],
      },
    },
    {
      name: 'bench-is-apart',
      comment: 'What measures is used by nothing that is measured.',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^bench/' },
    },
    {
      name: 'declared-dependencies-only',
      comment:
        'Sources use what their own package.json lists under dependencies, not what happens to be hoisted. Two clients go into a file of ours by the build.',
      severity: 'error',
      from: {
        path: '^packages/[^/]+/src/',
        pathNot: [tests, '^packages/(container-engine/src/engine/docker-client|provider-ssh/src/ssh-client)\\.ts$'],
      },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-unresolved',
      comment: 'An import that resolves to nothing would also escape every rule above.',
      severity: 'error',
      from: { path: '^(packages|bench)/' },
      to: { couldNotResolve: true },
    },
    ...ROOM_RULES,
    {
      name: 'programs-know-no-use-case',
      comment: 'What runs in a sandbox is asked for by use cases, and by nothing else of core.',
      severity: 'error',
      from: { path: '^packages/core/src/(inside|channel|services|config|domain|ports)/', pathNot: tests },
      to: { path: '^packages/core/src/(use-cases|operations|wiring)/' },
    },
    {
      name: 'no-cycles',
      comment: 'Type-only cycles count too.',
      severity: 'error',
      from: { path: '^(packages|bench)/' },
      to: { circular: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^packages/[^/]+/(dist|bundle)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@litterbox/source', 'types', 'import', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
    },
  },
};
