/** Stopping as ctrl-z does it, until the shell continues the program. */

/** A process that still runs this long after it should have been stopped has no shell that could continue it. */
const unstoppedMs = 150;

/**
 * Stops a process, or with 0 the whole group: a launcher between the shell and the program stops with it. Resolves when the
 * process runs again; at once where nothing can be stopped, as in a terminal that has no shell.
 */
export async function stopUntilContinued(pid: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once('SIGCONT', resolve);
  process.kill(pid, 'SIGTSTP');
  // Also keeps the process alive, whose input is paused. While it is stopped, no time passes for it but by the clock.
  const timer = setTimeout(resolve, unstoppedMs);
  await promise;
  clearTimeout(timer);
  process.off('SIGCONT', resolve);
}
