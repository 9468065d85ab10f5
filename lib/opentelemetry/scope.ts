/** The instrumentation scope under which everything is recorded. */
export const NAME = 'nest-redis-lock';
/** Of this package. */
export const VERSION = '0.1.0';
