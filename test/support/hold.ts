import process from 'node:process';

/** Imported before a gateway: SIGUSR2 holds its event loop for good, as a rule that never ends would. */
process.on('SIGUSR2', () => {
  for (;;);
});
