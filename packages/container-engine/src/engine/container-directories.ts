import type { SandboxDirectories } from '@litterbox/linux-sandbox';
import type { Layout } from './layout.ts';
import type { SandboxMeta } from './sandbox-meta.ts';

/** Where the sandboxes of an engine's provider have their directories. */
export type ContainerDirectories = SandboxDirectories<SandboxMeta, Layout>;
