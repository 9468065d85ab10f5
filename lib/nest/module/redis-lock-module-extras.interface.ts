import type { Provider } from '@nestjs/common';

/** Further options of `forRoot` and `forRootAsync`. */
export interface RedisLockModuleExtras {
  /** Distinguishes several modules; see `@InjectLockService(name)` and the option `module` of `@Locked`. */
  name?: string;
  /** Whether modules that do not import this one can inject its LockService. Default true. */
  isGlobal?: boolean;
}

/** Further options of `forRootAsync`. */
export interface RedisLockModuleAsyncExtras extends RedisLockModuleExtras {
  /** Providers that the options factory injects and no imported module exports. */
  extraProviders?: Provider[];
}
