/** A change below a directory, by the names that the protocol has for it. */
export interface TreeEvent {
  /** Relative to the directory. */
  readonly name: string;
  readonly type: `EVENT_TYPE_${'CREATE' | 'WRITE' | 'REMOVE' | 'RENAME' | 'CHMOD'}`;
}

/** A name as one look found it. */
interface Seen {
  readonly inode: string;
  readonly content: string;
  readonly mode: string;
  readonly isDirectory: boolean;
  readonly isEmpty: boolean;
}

const LINE = /^(\d+) (\d+) ([\d.]+) ([\d.]+) ([0-9a-f]+) \.\/(.+)$/;
const DIRECTORY = 0x4000;
const TYPE_BITS = 0xf000;

/** Lines of a look, by name: inode, size, times of content and of attributes, mode. What is no such line, such as a name with a line break, is passed over. */
export function readLook(text: string): ReadonlyMap<string, Seen> {
  const names = new Map<string, Seen>();
  for (const line of text.split('\n')) {
    const [, inode = '', size, modified, changed, mode = '', name] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const isDirectory = (Number.parseInt(mode, 16) & TYPE_BITS) === DIRECTORY;
    const content = isDirectory ? '' : `${size} ${modified} ${changed}`;
    names.set(name, { inode, content, mode, isDirectory, isEmpty: isDirectory || size === '0' });
  }
  return names;
}

/** The difference of two looks: a new file that holds something was made and written, as if somebody had looked all the time. */
export function eventsBetween(
  before: ReadonlyMap<string, Seen>,
  after: ReadonlyMap<string, Seen>,
): readonly TreeEvent[] {
  const events: TreeEvent[] = [];
  const made = new Set([...after].filter(([name]) => !before.has(name)).map(([, { inode }]) => inode));
  for (const [name, { inode }] of before)
    if (!after.has(name)) events.push({ name, type: made.has(inode) ? 'EVENT_TYPE_RENAME' : 'EVENT_TYPE_REMOVE' });
  const old = new Set([...before].filter(([name]) => !after.has(name)).map(([, { inode }]) => inode));
  for (const [name, now] of after) {
    const was = before.get(name);
    if (!was) {
      events.push({ name, type: 'EVENT_TYPE_CREATE' });
      if (!now.isEmpty && !old.has(now.inode)) events.push({ name, type: 'EVENT_TYPE_WRITE' });
    } else if (was.mode !== now.mode) events.push({ name, type: 'EVENT_TYPE_CHMOD' });
    else if (was.inode !== now.inode || was.content !== now.content) events.push({ name, type: 'EVENT_TYPE_WRITE' });
  }
  return events;
}
