/** Ends this program as a person would, once the one that started it with a channel is gone: nobody is left who reads its words or stops it. */
export function endWithParent(): void {
  if (!process.channel) return;
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}
