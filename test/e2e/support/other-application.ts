import { Test, type TestingModule } from '@nestjs/testing';
import { RedisLockModule } from '../../../lib/index.js';

/** Another application on the same Redis: an instance of its own, as in another process. */
export function otherApplication(connection: string): Promise<TestingModule> {
  return Test.createTestingModule({ imports: [RedisLockModule.forRoot({ connection })] }).compile();
}
