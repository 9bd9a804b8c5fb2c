import { expect, it } from '@jest/globals';
import { WriteNotes } from '../../use-cases/review/write-notes.ts';
import { AGENT_USE_CASES } from '../../wiring/agent-use-cases.ts';
import { PERSON_USE_CASES } from '../../wiring/person-use-cases.ts';

it('AX183: notes are written by persons alone: nothing that an agent may ask for leads to them', () => {
  expect(Object.values(PERSON_USE_CASES)).toContain(WriteNotes);
  expect(Object.values(AGENT_USE_CASES)).not.toContain(WriteNotes);
});
