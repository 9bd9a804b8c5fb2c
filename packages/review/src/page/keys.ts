/** Keys of the page, in the order of its help. */
export const KEYS: readonly (readonly [keys: readonly string[], words: string, action: Action])[] = [
  [['j'], 'next file', 'next-file'],
  [['k'], 'file before', 'last-file'],
  [['n'], 'next hunk', 'next-hunk'],
  [['p'], 'hunk before', 'last-hunk'],
  [['x'], 'fold or unfold the file', 'fold'],
  [['/'], 'find words in the changes', 'find'],
  [['f'], 'all lines of the file, or its changes alone', 'whole'],
  [['t'], 'take the file, or leave it', 'take'],
  [['T'], 'take all files, or none', 'take-all'],
  [['h'], 'take the hunk, or leave it', 'take-hunk'],
  [['e'], 'split the hunk into its changes', 'split-hunk'],
  [['c'], 'another sandbox beside this one, such as another racer', 'beside'],
  [['s'], 'side by side, or one below the other', 'split'],
  [['1'], 'changes', 'changes'],
  [['2'], 'what changed since you looked', 'since'],
  [['3'], 'calls', 'calls'],
  [['J', ']'], 'next sandbox', 'next-sandbox'],
  [['K', '['], 'sandbox before', 'last-sandbox'],
  [['a'], 'apply what is taken, or all', 'apply'],
  [['m'], 'merge', 'merge'],
  [['r'], 'look again', 'reload'],
  [['d'], 'dark, light, or as the machine', 'theme'],
  [['?'], 'this help', 'help'],
];

export type Action =
  | 'next-file'
  | 'last-file'
  | 'next-hunk'
  | 'last-hunk'
  | 'fold'
  | 'find'
  | 'whole'
  | 'take'
  | 'take-all'
  | 'take-hunk'
  | 'split-hunk'
  | 'beside'
  | 'split'
  | 'changes'
  | 'since'
  | 'calls'
  | 'next-sandbox'
  | 'last-sandbox'
  | 'apply'
  | 'merge'
  | 'reload'
  | 'theme'
  | 'help';

const BY_KEY = new Map(KEYS.flatMap(([keys, , action]) => keys.map((key) => [key, action] as const)));

/** The key as its cap says it on a Latin keyboard: Caps Lock is no Shift, and another alphabet has the same places. */
function keyOf({ key, code, shiftKey }: KeyboardEvent): string {
  const [, letter] = /^[^\0-\x7f]$/.test(key) ? (/^Key([A-Z])$/.exec(code) ?? []) : (/^([a-z])$/i.exec(key) ?? []);
  if (letter === undefined) return key;
  return shiftKey ? letter.toUpperCase() : letter.toLowerCase();
}

/** Calls back for keys that nobody else wants: none that is typed into a field, and none while a dialog is open. */
export function listenToKeys(onAction: (action: Action) => void): void {
  document.addEventListener('keydown', (event) => {
    const { ctrlKey, metaKey, altKey, target } = event;
    const isTyping = target instanceof HTMLElement && target.matches('input:not([type=checkbox]), textarea, select');
    const action = BY_KEY.get(keyOf(event));
    if (action === undefined || ctrlKey || metaKey || altKey || isTyping || document.querySelector('dialog[open]'))
      return;
    event.preventDefault();
    onAction(action);
  });
}
