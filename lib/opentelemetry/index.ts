export {
  RedisLockInstrumentation,
  type RedisLockInstrumentationConfig,
} from './redis-lock.instrumentation.js';
