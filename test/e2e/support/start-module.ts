import type { ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';

/** Starts an application without a server. */
export async function startModule(metadata: ModuleMetadata): Promise<TestingModule> {
  return (await Test.createTestingModule(metadata).compile()).init();
}
