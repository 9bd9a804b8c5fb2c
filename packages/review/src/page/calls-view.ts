import type { LogLine, Output, PastCall } from './answers.ts';
import { element } from './element.ts';
import { ago, bytesText, counted } from './words.ts';

/** The calls and revisions of a sandbox, newest first. */
export function callsView(entries: readonly LogLine[], isMore: boolean, onCall: (call: number) => void): HTMLElement {
  if (entries.length === 0) return element('p', { class: 'empty' }, 'Nothing happened in it yet.');
  const item = (entry: LogLine) => {
    const { call, subject, revision, exitCode, atMs, actor, isMilestone, outcome } = entry;
    const failed = exitCode !== undefined && exitCode !== 0;
    return element(
      'li',
      { class: failed ? 'bad' : '' },
      element('span', { class: 'revision' }, revision === undefined ? '·' : String(revision)),
      call === undefined
        ? element('span', { class: 'command' }, subject)
        : element('button', { class: 'command', onclick: () => onCall(call) }, subject),
      exitCode !== undefined && element('span', { class: `chip ${failed ? 'bad' : 'good'}` }, `exit ${exitCode}`),
      outcome !== undefined && outcome !== 'ok' && element('span', { class: 'chip fair' }, outcome),
      isMilestone === true && element('span', { class: 'chip' }, 'milestone'),
      element(
        'span',
        { class: 'faint' },
        [revision === undefined ? 'no change' : '', actor, ago(atMs), call === undefined ? '' : `call ${call}`]
          .filter(Boolean)
          .join(', '),
      ),
    );
  };
  return element(
    'div',
    { class: 'calls' },
    element('ul', {}, ...entries.map(item)),
    isMore && element('p', { class: 'faint' }, 'Older calls are not listed here.'),
  );
}

/** One call with what it printed. What is not there is said. */
export function callDetail(past: PastCall): HTMLElement {
  const facts = [
    past.outcome === 'ok' ? undefined : past.outcome,
    past.exitCode === undefined ? undefined : `exit ${past.exitCode}`,
    past.durationMs === undefined ? undefined : `${(past.durationMs / 1000).toFixed(1)} s`,
    ago(past.atMs),
    `by ${past.actor}`,
    past.revision === undefined ? 'changed nothing' : `revision ${past.revision.slice(0, 10)}`,
  ];
  return element(
    'div',
    { class: 'call' },
    element('pre', { class: 'command' }, past.subject),
    element('p', { class: 'faint' }, facts.filter((fact) => fact !== undefined).join(', ')),
    ...(past.isKept ? printed(past) : [element('p', {}, unkept(past.outcome))]),
  );
}

function unkept(outcome: string): string {
  if (outcome === 'running') return 'It has not ended yet: what it prints is kept when it ends.';
  if (outcome === 'unknown') return 'The program that ran it was killed: what it had printed is lost.';
  return 'What it printed was not kept.';
}

function printed({ stdout, stderr }: PastCall): HTMLElement[] {
  if (!stdout && !stderr) return [element('p', {}, 'It printed nothing.')];
  return [
    ...(stdout ? outputParts(stdout) : []),
    ...(stderr ? [element('h3', {}, 'Printed to stderr'), ...outputParts(stderr)] : []),
  ];
}

function outputParts({ goneBytes, head = '', droppedBytes, tail = '' }: Output): HTMLElement[] {
  if (goneBytes !== undefined)
    return [
      element(
        'p',
        { class: 'gap' },
        `${bytesText(goneBytes)} are not there: they made room for later ones, or the program ended before it wrote them.`,
      ),
    ];
  const text = (part: string) => element('pre', { class: 'output', tabindex: 0 }, part);
  if (droppedBytes === undefined) return [text(head)];
  return [
    text(head),
    element(
      'p',
      { class: 'gap' },
      `${counted(droppedBytes, 'byte')} left out: only the beginning and the end are kept.`,
    ),
    text(tail),
  ];
}
