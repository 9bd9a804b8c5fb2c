import { type NewerFiles } from '@litterbox/linux-sandbox';
import { type ResourceLimits, type SandboxId } from '@litterbox/core/provider';

/** What `create` decided for a sandbox; written once into its directory. A container that was removed is made again from it. */
export interface SandboxMeta {
  readonly version: 1;
  readonly id: SandboxId;
  readonly slug: string;
  readonly repositoryId: string;
  readonly base: string;
  readonly workdir: string;
  /** As the configuration named it, for people. */
  readonly image: string;
  /** What was installed into it: a key. */
  readonly installed?: string;
  /** What the names meant at create: the engine's id of the image, with what was installed. */
  readonly imageId: string;
  /** The image's own environment, without what programs take orders from. */
  readonly imageEnvironment: Readonly<Record<string, string>>;
  /** Names in the image's environment that are emptied. */
  readonly hostileNames: readonly string[];
  /** Places that the image declares as volumes. */
  readonly imageVolumes: readonly string[];
  readonly user: { readonly uid: number; readonly gid: number };
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: Required<Pick<ResourceLimits, 'memoryBytes' | 'cpus' | 'processes' | 'openFiles'>> &
    Pick<ResourceLimits, 'diskBytes'>;
  readonly playground: string;
  readonly allowDegraded: boolean;
  /** The key of the kept setup that it stands on. */
  readonly prepared?: string;
  /** What of the base is others than that setup saw. */
  readonly newer?: NewerFiles;
  /** A place to install into the image: root inside, whose system is written. */
  readonly isInstaller?: true;
  /** Its layers began as copies of another sandbox's, or of a snapshot. */
  readonly isCopy?: true;
}
