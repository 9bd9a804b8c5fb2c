import { describe, expect, it } from '@jest/globals';
import { Findings, isMet, mergedRun, type Run } from './findings.ts';
import { reportOf } from './report.ts';

describe('findings and report', () => {
  it('tells medians, the ratio of medians and whether the limit is kept', () => {
    const findings = new Findings();
    const words = { target: 'P1', what: 'create', against: 'the floor' };
    findings.row({ ...words, measured: [30, 20, 1000], floor: [10, 11, 9], limit: { of: 'ratio', atMost: 3 } });
    findings.row({ ...words, measured: [30], floor: [9], limit: { of: 'ratio', atMost: 3 } });
    findings.row({ ...words, measured: [30], floor: [1], limit: { of: 'value', atMost: 30 } });
    findings.row({ ...words, measured: [30], floor: [1] });
    expect(findings.rows.map(isMet)).toEqual([true, false, true, undefined]);
    expect(findings.rows[0]).toMatchObject({ ratio: 3, measured: { n: 3, median: 30 }, floor: { n: 3, median: 10 } });
  });

  it('writes a line for every row, what is absent with its reason', () => {
    const findings = new Findings();
    findings.floor('a process', [1.5]);
    findings.row({
      target: 'P4',
      what: 'a revision',
      measured: [3],
      against: 'git',
      floor: [100],
      limit: { of: 'ratio', atMost: 1 / 30 },
    });
    findings.lacks('P11', 'the job', 'no engine answers');
    const { floors, rows, absent } = findings;
    const text = reportOf({ quick: { mode: 'quick', machine: { cores: '2' }, floors, rows, absent } });
    expect(text).toContain('| P4 | a revision | 3 ms | 3 ms | 1 | git | 100 ms | 0.03 × | 1/30 × | met |');
    expect(text).toContain('absent: no engine answers');
    expect(text).toContain('| a process | 1.5 ms | 1.5 ms | 1 |');
    expect(text).not.toContain('The whole bench');
  });

  it('keeps what a run of some scenarios did not measure, and replaces what it did', () => {
    const runOf = (...rows: readonly (readonly [target: string, value: number])[]): Run => {
      const findings = new Findings();
      for (const [target, value] of rows)
        findings.row({ target, what: 'it', against: 'one', measured: [value], floor: [1] });
      findings.floor(`floor of ${rows[0]?.[0]}`, [1]);
      return { mode: 'full', machine: {}, floors: findings.floors, rows: findings.rows, absent: [] };
    };
    const merged = mergedRun(runOf(['P1', 1], ['P11', 2]), runOf(['P2', 3], ['P11', 4]));
    expect(merged.rows.map(({ target, ratio }) => [target, ratio])).toEqual([
      ['P1', 1],
      ['P2', 3],
      ['P11', 4],
    ]);
    expect(merged.floors.map(({ what }) => what)).toEqual(['floor of P1', 'floor of P2']);
    const gone: Run = { ...runOf(), absent: [{ target: 'P1', what: 'it', reason: 'why' }] };
    expect(mergedRun(runOf(['P1', 1]), gone)).toMatchObject({ rows: [], absent: [{ target: 'P1' }] });
    expect(mergedRun(undefined, gone)).toBe(gone);
  });
});
