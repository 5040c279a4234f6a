/**
 * Resolves at the first of the signals, which then has its default effect again. To be asked for before anything is
 * started, so that no moment is left in which a signal ends this process and leaves what it started.
 */
export function untilSignal(...signals: readonly NodeJS.Signals[]): Promise<void> {
  return new Promise((done) => {
    const heard = (): void => {
      for (const signal of signals) process.off(signal, heard);
      done();
    };
    for (const signal of signals) process.on(signal, heard);
  });
}
