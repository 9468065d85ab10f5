import { hostname } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { OwnHold } from '../engine/hold/lock.interface.js';
import { isLockError } from '../errors/lock.error.js';
import type { ListOptions } from '../options/list-options.js';
import type { LockService } from '../service/lock.service.js';
import { findLockService } from '../service/lock-service.token.js';
import type { LockListing } from '../store/lock-listing.js';
import { LockActivity, type LostHold } from './lock-activity.js';
import type { LockInspectorOptions } from './lock-inspector.options.js';

/** Injection token of the inspector's options. */
export const INSPECTOR_OPTIONS = Symbol('nest-redis-lock:inspector-options');

/** The reply to `GET /locks`. */
export interface LockInspection {
  /** The replying process: its owner ids begin with `<host>-<pid>-`. */
  readonly instance: { readonly host: string; readonly pid: number };
  readonly at: Date;
  /** Whether this inspector can release locks forcibly. */
  readonly actions: boolean;
  /** Held names of all instances, in no order, up to the requested limit. */
  readonly names: readonly LockListing[];
  /** Whether more names exist. */
  readonly isPart: boolean;
  /** Why the names could not be listed: Redis does not answer, or rejects the request. */
  readonly trouble: string | undefined;
  /** Holds of this process, longest first, up to the requested limit. */
  readonly holds: readonly OwnHold[];
  /** Number of holds of this process. */
  readonly holdCount: number;
  /** Recently lost holds of this process, latest first. */
  readonly lost: readonly LostHold[];
}

type Listing = Pick<LockInspection, 'names' | 'isPart' | 'trouble'>;

/** Inspects the locks of one module. */
@Injectable()
export class LockInspector {
  /** Listings in flight, by their options: simultaneous requests share one listing. */
  private readonly listings = new Map<string, Promise<Listing>>();

  constructor(
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    @Inject(INSPECTOR_OPTIONS) private readonly options: LockInspectorOptions,
    @Inject(LockActivity) private readonly activity: LockActivity,
  ) {}

  /** @throws LockConfigError if the application has no module of that name. */
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
      lost: [...this.activity.lost],
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

  /** Lists the names. Without Redis, the inspection still contains what this process knows. */
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
