import { hostname } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { OwnHold } from '../engine/hold/own-hold.interface.js';
import { isLockError } from '../errors/lock.error.js';
import type { ListOptions } from '../options/list-options.interface.js';
import type { LockService } from '../service/lock.service.js';
import { findLockService } from '../service/lock-service.token.js';
import type { LockListing } from '../store/lock-listing.interface.js';
import { LockActivity } from './lock-activity.js';
import type { LockInspectorOptions } from './lock-inspector.options.js';
import type { LostHold } from './lost-holds.js';

/** The options of the module that asks. */
export const INSPECTOR_OPTIONS = Symbol('nest-redis-lock:inspector-options');

/** What `GET /locks` answers. */
export interface LockInspection {
  /** Of the process that answers: owner ids begin with `<host>-<pid>-`. */
  readonly instance: { readonly host: string; readonly pid: number };
  readonly at: Date;
  /** Whether locks can be released by force here. */
  readonly actions: boolean;
  /** Names that anybody holds, in no order, at most as many as were asked for. */
  readonly names: readonly LockListing[];
  /** Whether there are more. */
  readonly isPart: boolean;
  /** Why the names could not be listed: Redis does not answer, or refuses. */
  readonly trouble: string | undefined;
  /** What this process holds, longest first, at most as many as were asked for. */
  readonly holds: readonly OwnHold[];
  /** How many it holds. */
  readonly holdCount: number;
  /** The last holds that this process has lost, latest first. */
  readonly lost: readonly LostHold[];
}

type Listing = Pick<LockInspection, 'names' | 'isPart' | 'trouble'>;

/** Looks at the locks of one module. */
@Injectable()
export class LockInspector {
  /** Under way, by what they list: several who look at once cost Redis as much as one. */
  private readonly listings = new Map<string, Promise<Listing>>();

  constructor(
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    @Inject(INSPECTOR_OPTIONS) private readonly options: LockInspectorOptions,
    @Inject(LockActivity) private readonly activity: LockActivity,
  ) {}

  /** @throws LockConfigError where the application has no such module. */
  get locks(): LockService {
    return findLockService(this.moduleRef, this.options.module, 'LockInspectorModule');
  }

  async inspect(range: Required<ListOptions>): Promise<LockInspection> {
    const listing = await this.listOnce(range);
    const holds = this.locks.holds();
    return {
      instance: { host: hostname(), pid: process.pid },
      at: new Date(),
      actions: this.options.actions === true,
      ...listing,
      holds: holds.slice(0, range.limit),
      holdCount: holds.length,
      lost: this.activity.lost.all(),
    };
  }

  private async listOnce(range: Required<ListOptions>): Promise<Listing> {
    const key = JSON.stringify(range);
    const under = this.listings.get(key);
    if (under !== undefined) return under;
    const listing = this.list(range).finally(() => this.listings.delete(key));
    this.listings.set(key, listing);
    return listing;
  }

  /** Without Redis there still is what this process knows by itself. */
  private async list({ prefix, limit }: Required<ListOptions>): Promise<Listing> {
    /** By name, since one may be listed twice. */
    const names = new Map<string, LockListing>();
    try {
      for await (const listing of this.locks.list({ prefix })) {
        if (names.size === limit && !names.has(listing.name))
          return { names: [...names.values()], isPart: true, trouble: undefined };
        names.set(listing.name, listing);
      }
      return { names: [...names.values()], isPart: false, trouble: undefined };
    } catch (error) {
      if (!isLockError(error)) throw error;
      return { names: [...names.values()], isPart: true, trouble: error.message };
    }
  }
}
