import process from 'node:process';

/** Imported before a gateway: SIGUSR2 blocks its event loop forever, like a rule that never ends. */
process.on('SIGUSR2', () => {
  for (;;);
});
