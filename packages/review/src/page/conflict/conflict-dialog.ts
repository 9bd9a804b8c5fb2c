import type { ConflictFile, ExactText, SettledFile } from '../answers.ts';
import { openDialog } from '../dialog.ts';
import { element } from '../element.ts';
import { bytesText, counted } from '../words.ts';
import { type Choice, ConflictText } from './conflict-text.ts';

/** Lines around a place that are shown; the others are counted. */
const AROUND = 4;
const CHOICES: readonly (readonly [choice: Choice, words: string])[] = [
  ['ours', 'Yours'],
  ['theirs', 'The sandbox\u2019s'],
  ['ours-theirs', 'Both, yours first'],
  ['theirs-ours', 'Both, yours last'],
];

/** Shows both sides of a file in conflict. Nothing is done: what the person makes of it is kept until they apply or merge. */
export function openConflict(
  file: ConflictFile,
  text: ConflictText,
  into: string,
  onSettled: (settled: SettledFile) => void,
): void {
  const { path, digest, name } = file;
  const settle = (by: { readonly take: 'ours' | 'theirs' } | { readonly text: string }) => {
    dialog.close();
    onSettled({ path, digest, ...by });
  };
  const side = (take: 'ours' | 'theirs', who: string) =>
    element(
      'button',
      { onclick: () => settle({ take }) },
      file[take] ? `The file as ${who} has it (${bytesText(file[take].size)})` : `No file, as in ${who}`,
    );
  const body = element(
    'div',
    { class: 'conflict' },
    element('p', {}, `${into} and the sandbox both changed it. Nothing is done before you apply or merge.`),
    element('div', { class: 'whole-sides' }, side('ours', into), side('theirs', 'the sandbox')),
    file.parts
      ? editor(file, text, (whole) => settle({ text: whole }))
      : element('p', { class: 'faint' }, 'Its text cannot be edited here: take it as one side has it.'),
  );
  const dialog = openDialog(`Settle ${name}`, body);
  body.querySelector('button')?.focus();
}

function editor(file: ConflictFile, text: ConflictText, onKeep: (text: string) => void): HTMLElement {
  const { parts = [] } = file;
  const status = element('span', { class: 'faint', role: 'status' });
  const keep = element('button', { class: 'primary', onclick: () => onKeep(text.text ?? '') }, 'Keep this text');
  const editWhole = element('button', { onclick: () => showWhole() }, 'Edit the whole text');
  const places = element('div', { class: 'places' });
  const show = () => {
    const { open } = text;
    status.textContent = open === 0 ? 'Every place is settled.' : `${counted(open, 'place')} to settle`;
    keep.disabled = open > 0;
    editWhole.disabled = text.whole === undefined;
  };
  const showWhole = () => {
    const { whole } = text;
    if (!whole) return;
    const field = element('textarea', { class: 'code', rows: 20, 'aria-label': `The whole text of ${file.name}` });
    field.value = whole.value;
    field.addEventListener('input', () => text.editWhole(withEnds(field.value, whole.end)));
    places.replaceChildren(field);
    editWhole.remove();
    field.focus();
  };
  let region = 0;
  for (const [at, part] of parts.entries())
    if ('text' in part) places.append(common(part.text, at > 0, at < parts.length - 1));
    else places.append(place(file, text, region++, show));
  show();
  if (text.isWhole) showWhole();
  return element('div', { class: 'editor' }, places, element('div', { class: 'actions' }, status, editWhole, keep));
}

/** Lines on which both sides agree. */
function common({ exact, shown }: ExactText, isAfter: boolean, isBefore: boolean): HTMLElement {
  const lines = (shown ?? exact).replace(/\n$/, '').split('\n');
  const head = isAfter ? lines.slice(0, AROUND) : [];
  const tail = isBefore ? lines.slice(Math.max(head.length, lines.length - AROUND)) : [];
  const left = lines.length - head.length - tail.length;
  return element(
    'pre',
    { class: 'common' },
    head.join('\n'),
    left > 0 &&
      element(
        'em',
        { class: 'more' },
        `${head.length > 0 ? '\n' : ''}… ${counted(left, 'line')} …${tail.length > 0 ? '\n' : ''}`,
      ),
    left === 0 && head.length > 0 && tail.length > 0 && '\n',
    tail.join('\n'),
  );
}

function place(file: ConflictFile, text: ConflictText, region: number, onChanged: () => void): HTMLElement {
  const { ours, theirs } = text.regions[region] as (typeof text.regions)[number];
  const field = text.field(region);
  const area = element('textarea', {
    class: 'code',
    rows: 4,
    'aria-label': `Merged text of place ${region + 1}`,
    placeholder: 'Choose a side, or write what it becomes',
  });
  area.addEventListener('input', () => {
    text.edit(region, withEnds(area.value, field?.end ?? '\n'));
    onChanged();
  });
  const fill = () => {
    area.value = text.at(region) ?? '';
    area.rows = Math.min(20, Math.max(4, area.value.split('\n').length));
  };
  const onChosen = (choice: Choice) => {
    text.choose(region, choice);
    fill();
    onChanged();
  };
  fill();
  return element(
    'fieldset',
    { class: 'place' },
    element('legend', {}, `Place ${region + 1}`),
    element(
      'div',
      { class: 'two-sides' },
      file.ours && sideText('Yours', 'removed', ours),
      file.theirs && sideText('The sandbox\u2019s', 'added', theirs),
    ),
    choices(file, region, onChosen),
    field
      ? area
      : element('p', { class: 'faint' }, 'It has characters that hide, or ends of lines of two kinds: choose a side.'),
  );
}

/** A button for each way to have the sides that are there. */
function choices(file: ConflictFile, region: number, onChosen: (choice: Choice) => void): HTMLElement {
  const areBoth = file.ours !== undefined && file.theirs !== undefined;
  const offered = CHOICES.filter(([choice]) => areBoth || choice === (file.ours ? 'ours' : 'theirs'));
  const chosen = element('span', { class: 'faint' });
  const buttons = offered.map(([choice, words]) => {
    const onclick = () => {
      chosen.textContent = `Chosen: ${words.toLowerCase()}`;
      onChosen(choice);
    };
    return element('button', { 'aria-label': `${words}, at place ${region + 1}`, onclick }, words);
  });
  return element('div', { class: 'choices' }, ...buttons, chosen);
}

function sideText(title: string, kind: string, { exact, shown }: ExactText): HTMLElement {
  const text = shown ?? exact;
  return element(
    'figure',
    { class: `side-text ${kind}` },
    element('figcaption', {}, title),
    text === ''
      ? element('p', { class: 'faint' }, 'nothing')
      : element('pre', { tabindex: 0, 'aria-label': title }, text),
  );
}

const withEnds = (value: string, end: string) => (end === '\n' ? value : value.replaceAll('\n', end));
