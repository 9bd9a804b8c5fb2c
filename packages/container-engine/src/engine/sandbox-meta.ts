import type { ArtefactLayer, BaseOver, DirectoryDescription, NewerFiles } from '@litterbox/linux-sandbox';

/** What `create` decided for a sandbox. A container that was removed is made again from it. */
export interface SandboxMeta extends DirectoryDescription {
  readonly base: string;
  /** Present where the base is another one with a layer over it. */
  readonly over?: BaseOver;
  /** As the configuration named it, for people. */
  readonly image: string;
  /** What was installed into it: a key. */
  readonly installed?: string;
  /** What the names meant at create: the engine's id of the image, with what was installed. */
  readonly imageId: string;
  /** Where the engine that has the container keeps its containers, by its own word. Absent in what an earlier release made. */
  readonly engineRoot?: string;
  /** The image's own environment, without what programs take orders from. */
  readonly imageEnvironment: Readonly<Record<string, string>>;
  /** Names in the image's environment that are emptied. */
  readonly hostileNames: readonly string[];
  /** Places that the image declares as volumes. */
  readonly imageVolumes: readonly string[];
  readonly user: { readonly uid: number; readonly gid: number };
  /** The key of the kept setup that it stands on. */
  readonly prepared?: string;
  /** What of the base is others than that setup saw. */
  readonly newer?: NewerFiles;
  /** What came along from the person's working tree; never beside `prepared`. */
  readonly artefacts?: ArtefactLayer;
  /** A place to install into the image: root inside, whose system is written. */
  readonly isInstaller?: true;
  /** Its layers began as copies of another sandbox's, or of a snapshot. */
  readonly isCopy?: true;
}
