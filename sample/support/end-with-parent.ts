const GRACE = 5_000;

/**
 * Loaded into each instance before its own code: when the parent process is gone, however it ended, the
 * instance shuts down as on SIGTERM.
 */
process.once('disconnect', () => {
  setTimeout(() => process.exit(1), GRACE).unref();
  process.kill(process.pid, 'SIGTERM');
});
