/** Waits until something has settled, in whichever way, and no longer than so many milliseconds. */
export async function within(ms: number, settling: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([
    settling.then(
      () => {},
      () => {},
    ),
    over,
  ]);
  clearTimeout(timer);
}
