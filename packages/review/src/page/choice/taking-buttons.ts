import { element } from '../element.ts';
import { counted } from '../words.ts';

/** The ways to take the work. @param some files of which something is taken */
export function takingButtons(
  some: number,
  isOpen: boolean,
  onDecide: (verb: 'apply' | 'merge') => void,
  onNone: () => void,
): readonly HTMLElement[] {
  const button = (text: string, verb: 'apply' | 'merge', isPrimary: boolean) =>
    element('button', { class: isPrimary ? 'primary' : '', disabled: !isOpen, onclick: () => onDecide(verb) }, text);
  return [
    button(some > 0 ? `Apply ${counted(some, 'file')} …` : 'Apply all …', 'apply', some > 0),
    ...(some > 0 ? [element('button', { class: 'quiet', onclick: onNone }, 'Take none')] : []),
    button('Merge …', 'merge', some === 0),
  ];
}
