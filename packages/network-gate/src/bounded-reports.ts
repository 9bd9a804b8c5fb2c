import type { GateReport } from '@litterbox/core/provider';

const MINUTE_MS = 60_000;

/** Passes on so many reports a minute, and then how many were left out: programs inside decide how many there are. */
export function boundedReports(
  onReport: (report: GateReport) => void,
  mostPerMinute: number,
  nowMs: () => number,
): { report(report: GateReport): void; flush(): void } {
  let sinceMs = nowMs();
  let count = 0;
  let leftOut = 0;
  const flush = () => {
    if (leftOut > 0) onReport({ type: 'left-out', count: leftOut });
    leftOut = 0;
  };
  return {
    report(report) {
      if (nowMs() - sinceMs >= MINUTE_MS) {
        flush();
        sinceMs = nowMs();
        count = 0;
      }
      count += 1;
      if (count > mostPerMinute) leftOut += 1;
      else onReport(report);
    },
    flush,
  };
}
