import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codexSeat, ENVIRONMENTS } from './codex.ts';
import type { Seat } from './seat.ts';

/** Codex as a file in its home leads it to an exec server, and no variable: to be tried before such a file is written. */
export function codexByFile(): Seat {
  let url = '';
  return {
    ...codexSeat,
    async open(place) {
      const opened = await codexSeat.open(place);
      url = opened.environment['CODEX_EXEC_SERVER_URL'] ?? '';
      return { ...opened, environment: {} };
    },
    trial: {
      ...codexSeat.trial,
      prepare(home, modelUrl) {
        const environment = codexSeat.trial.prepare(home, modelUrl);
        const lines = [
          'default = "trial"',
          'include_local = false',
          '',
          '[[environments]]',
          'id = "trial"',
          `url = "${url}"`,
        ];
        writeFileSync(join(home, '.codex', ENVIRONMENTS), `${lines.join('\n')}\n`);
        return environment;
      },
    },
  };
}
