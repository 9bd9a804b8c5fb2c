import { element } from './element.ts';

let opened = 0;

/** A dialog above the page; Escape and a click beside it close it. */
export function openDialog(title: string, ...children: (Node | string)[]): HTMLDialogElement {
  const id = `dialog-${++opened}`;
  const heading = element('h2', { id }, title);
  const dialog = element(
    'dialog',
    { 'aria-labelledby': id },
    element(
      'header',
      {},
      heading,
      element('button', { class: 'quiet', 'aria-label': 'Close', onclick: () => dialog.close() }, '✕'),
    ),
    element('div', { class: 'dialog-body' }, ...children),
  );
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
