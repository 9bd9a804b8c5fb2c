export type { Hands } from './hands.ts';
export { ExecServer, type ExecConnection } from './codex/exec-server.ts';
export type { ExecPlace } from './exec-place.ts';
export type { Send } from './codex/exec-session.ts';
export { type ListeningExecServer, listenExecServer } from './codex/listen-exec-server.ts';
export type { OpenedSeat, Seat, SeatPlace, Trial } from './seats/seat.ts';
export { SEATS } from './seats/seats.ts';
export { trySeat } from './trial/try-seat.ts';
export { assertTried, type TriedProgram } from './trial/tried-programs.ts';
