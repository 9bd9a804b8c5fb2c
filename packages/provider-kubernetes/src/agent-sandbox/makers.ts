/** The maker of a sandbox's pod where Litterbox makes none: a controller of agent-sandbox, or its pool that has them ready. */
export type Maker = 'agent-sandbox' | `warm-pool/${string}`;

const POOL = /^warm-pool\/([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$/;

export const isMaker = (text: unknown): text is Maker =>
  typeof text === 'string' && (text === 'agent-sandbox' || POOL.test(text));

/** The name of the pool; undefined where the pod is of none. */
export const poolOf = (maker: string | undefined): string | undefined => POOL.exec(maker ?? '')?.[1];
