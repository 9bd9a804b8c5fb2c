import { artefacts } from './sandbox-provider/artefacts.ts';
import { connections } from './sandbox-provider/connections.ts';
import { changes, SHARED_FILES } from './sandbox-provider/changes.ts';
import { copies } from './sandbox-provider/copies.ts';
import { execChannel } from './sandbox-provider/exec-channel.ts';
import { hostileTrees } from './sandbox-provider/hostile-trees.ts';
import { images } from './sandbox-provider/images.ts';
import { isolation } from './sandbox-provider/isolation.ts';
import { lifecycle } from './sandbox-provider/lifecycle.ts';
import { limits } from './sandbox-provider/limits.ts';
import { listening } from './sandbox-provider/listening.ts';
import { processes } from './sandbox-provider/processes.ts';
import { runStates } from './sandbox-provider/run-states.ts';
import { services } from './sandbox-provider/services.ts';
import { setups } from './sandbox-provider/setups.ts';
import { sharing } from './sandbox-provider/sharing.ts';
import { streaming } from './sandbox-provider/streaming.ts';
import { type SandboxProviderOptions, suite } from './sandbox-provider/suite.ts';
import { traits } from './sandbox-provider/traits.ts';

/**
 * The contract of `SandboxProvider` and `SandboxRuntime`, executable. No test can be switched off: what a provider cannot do it
 * leaves off its interface or its traits, and the suite then checks the refusal instead.
 */
export function describeSandboxProvider(options: SandboxProviderOptions): void {
  suite(options, 'lifecycle', lifecycle);
  suite(options, 'traits', traits);
  suite(options, 'sharing', sharing);
  suite(options, 'processes', processes);
  suite(options, 'streaming', streaming);
  suite(options, 'changes', changes, SHARED_FILES);
  suite(options, 'hostile trees', hostileTrees);
  suite(options, 'run states', runStates);
  suite(options, 'isolation', isolation);
  suite(options, 'limits', limits);
  suite(options, 'setups', setups);
  suite(options, 'images', images);
  suite(options, 'artefacts', artefacts);
  suite(options, 'copies', copies);
  suite(options, 'exec channel', execChannel);
  suite(options, 'connections', connections);
  suite(options, 'listening', listening);
  suite(options, 'services', services);
}
