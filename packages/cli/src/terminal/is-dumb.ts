/** Whether the terminal says that it writes text below text and nothing else, as the shell of Emacs does. */
export const isDumb = (): boolean => process.env['TERM'] === 'dumb';
