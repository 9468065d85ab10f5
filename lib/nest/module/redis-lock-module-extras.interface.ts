import type { Provider } from '@nestjs/common';

/** What both `forRoot` and `forRootAsync` take beside the options of the locks themselves. */
export interface RedisLockModuleExtras {
  /** Tells several modules apart; see `@InjectLockService(name)` and the option `module` of `@Locked`. */
  name?: string;
  /** Whether modules that do not import this one can inject its LockService too. Default true. */
  isGlobal?: boolean;
}

/** What `forRootAsync` takes beside {@link RedisLockModuleExtras}. */
export interface RedisLockModuleAsyncExtras extends RedisLockModuleExtras {
  /** Providers that the options factory injects and no imported module exports. */
  extraProviders?: Provider[];
}
