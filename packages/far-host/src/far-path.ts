/** Where programs of ours are looked up on a far machine: directories that neither a repository nor its tools can choose. */
export const FAR_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
