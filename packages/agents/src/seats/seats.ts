import { claudeSeat } from './claude.ts';
import { codexSeat } from './codex.ts';
import { piSeat } from './pi.ts';
import type { Seat } from './seat.ts';

/** The agents that can be seated, by what the command line calls them. */
export const SEATS: readonly Seat[] = [claudeSeat, codexSeat, piSeat];
