/** What file systems leave out of names when they compare them (HFS+), and no reader sees. */
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * The path as a file system that folds names takes it, such as APFS, NTFS or ext4 with `casefold`: two paths of one form may be one file
 * there. Folds a little more than any of them.
 */
export function foldedPath(path: string): string {
  if (/^[a-z0-9_./-]*$/.test(path)) return path;
  return path.replace(IGNORED, '').normalize('NFKC').toUpperCase().toLowerCase().normalize('NFC');
}
