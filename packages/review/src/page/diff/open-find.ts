import { element } from '../element.ts';
import type { DiffView } from './diff-view.ts';

/** Asks for words, and goes through the lines that hold them: the browser's own search sees none that is not drawn. */
export function openFind(diff: DiffView): void {
  const field = element('input', { type: 'search', 'aria-label': 'Find in the changes', placeholder: 'Find …' });
  const status = element('span', { class: 'faint', role: 'status' });
  const bar = element('div', { class: 'find', role: 'search', 'aria-label': 'Find' }, field, status);
  const find = (by: 1 | -1) => {
    const { at, all } = diff.find(field.value, by);
    status.textContent = all === 0 ? 'in no line' : `${at} of ${all.toLocaleString('en')}`;
  };
  const close = () => {
    bar.remove();
    diff.view.focus({ preventScroll: true });
  };
  bar.addEventListener('keydown', ({ key, shiftKey }) => {
    if (key === 'Escape' || !diff.view.isConnected) return close();
    if (key === 'Enter' && field.value !== '') find(shiftKey ? -1 : 1);
  });
  document.querySelector('.find')?.remove();
  document.body.append(bar);
  field.focus();
}
