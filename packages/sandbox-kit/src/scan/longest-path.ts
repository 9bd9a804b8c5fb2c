/** Bytes of a path below a workspace beyond which nothing is looked at: the kernel opens no file by a name of 4096, its own directory included. */
export const LONGEST_PATH_BYTES = 3840;
