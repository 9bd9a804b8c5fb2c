/** PATH for npm, which must not run on the Node that lives in node_modules: it may replace it. */
export function outsidePath() {
  return (process.env['PATH'] ?? '')
    .split(':')
    .filter((one) => !one.includes('/node_modules/'))
    .join(':');
}
