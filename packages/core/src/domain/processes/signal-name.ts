/** A signal by its POSIX name. */
export type SignalName =
  | 'SIGHUP'
  | 'SIGINT'
  | 'SIGQUIT'
  | 'SIGKILL'
  | 'SIGTERM'
  | 'SIGSTOP'
  | 'SIGCONT'
  | 'SIGUSR1'
  | 'SIGUSR2'
  | 'SIGWINCH';
