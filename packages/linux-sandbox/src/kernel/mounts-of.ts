/** A mount as `mountinfo` tells it, see proc(5). */
export interface Mount {
  /** One on the whole machine. */
  readonly id: number;
  /** The mount that it stands on. */
  readonly parent: number;
  /** `major:minor` of the file system. */
  readonly device: string;
  /** The directory of its file system that it shows. */
  readonly root: string;
  readonly point: string;
  readonly options: readonly string[];
  readonly type: string;
  /** Of an overlay, where its kernel tells: the directory that it writes. */
  readonly upper?: string;
}

/** Reads mounts. @param mountinfo lines of `/proc/PID/mountinfo` */
export function mountsOf(mountinfo: string): readonly Mount[] {
  return mountinfo.split('\n').flatMap((line) => (line === '' ? [] : [mountOf(line)]));
}

function mountOf(line: string): Mount {
  const [left = '', right = ''] = line.split(' - ');
  const [id, parent, device = '', root = '', point = '', options = ''] = left.split(' ');
  const upper = /(?:^|[ ,])upperdir=([^, ]*)/.exec(right)?.[1];
  return {
    id: Number(id),
    parent: Number(parent),
    device,
    root: unescaped(root),
    point: unescaped(point),
    options: options.split(','),
    type: right.split(' ')[0] ?? '',
    ...(upper !== undefined && { upper: unescaped(upper) }),
  };
}

/** The kernel writes blanks, newlines and backslashes in /proc as octal numbers. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_whole, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
