/**
 * Paths below some directories where sockets of the host are bound. Names as they were bound: one by a relative path, or by a program with
 * another root directory, is not found.
 *
 * @param table content of /proc/net/unix
 * @param directories absolute, without a slash at the end
 */
export function boundSockets(table: string, directories: readonly string[]): readonly string[] {
  const paths = table.split('\n').flatMap((line) => /^(?:\S+ +){7}(\/.*)$/.exec(line.trimStart())?.[1] ?? []);
  return [...new Set(paths)].filter(
    (path) => !path.split('/').includes('..') && directories.some((directory) => path.startsWith(`${directory}/`)),
  );
}
