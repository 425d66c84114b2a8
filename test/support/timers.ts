/** How many timers are set that keep the process alive. */
export const countTimers = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
