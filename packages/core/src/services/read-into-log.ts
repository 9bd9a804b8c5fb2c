import type { Clock } from '../ports/common/clock.ts';
import type { ProcessHandle } from '../ports/common/process.ts';
import type { ServiceLog } from './service-log.ts';

/** A service that prints more is made to wait: its log keeps a MiB in any case. */
const LOG_BYTES_PER_SECOND = 16 * 2 ** 20;

/** Puts all that a program prints into a log, no faster than is good for who reads it. Ends with the program, and never throws. */
export async function readIntoLog(handle: ProcessHandle, log: ServiceLog, clock: Clock): Promise<void> {
  let secondMs = clock.monotonicMs();
  let bytesInSecond = 0;
  try {
    for await (const { bytes } of handle) {
      log.push(bytes);
      bytesInSecond += bytes.length;
      const passedMs = clock.monotonicMs() - secondMs;
      if (passedMs < 1000 && bytesInSecond > LOG_BYTES_PER_SECOND) await clock.sleep(1000 - passedMs);
      if (passedMs >= 1000 || bytesInSecond > LOG_BYTES_PER_SECOND) {
        secondMs = clock.monotonicMs();
        bytesInSecond = 0;
      }
    }
  } catch {
    // its exit tells
  }
}
