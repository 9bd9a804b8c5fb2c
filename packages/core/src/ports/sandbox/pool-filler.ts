/** How the pool of a repository is filled behind the back of who took something out of it. */
export interface PoolFiller {
  /**
   * Starts a program that fills the pool and outlives this one; does not wait for it. Absent: nothing is filled until somebody asks.
   *
   * @param repositoryRoot absolute path of the work tree's root
   */
  launch?(repositoryRoot: string): Promise<void>;
}
