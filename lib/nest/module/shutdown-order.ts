import type { InjectionToken } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';

/**
 * Lets Nest call the shutdown hooks of the modules with a token before those of all others, and their start hooks after
 * all others.
 *
 * Nest sorts hooks by the distance of a module from the root, which is at least 1. Call this before the start hooks,
 * because Nest sorts the modules once.
 */
export function runShutdownHooksFirst(modules: ModulesContainer, token: InjectionToken): void {
  setDistance(modules, token, -1);
}

/**
 * Lets Nest call the shutdown hooks of the modules with a token after those of all others, global modules included, and
 * their start hooks before all others.
 */
export function runShutdownHooksLast(modules: ModulesContainer, token: InjectionToken): void {
  setDistance(modules, token, Infinity);
}

function setDistance(modules: ModulesContainer, token: InjectionToken, distance: number): void {
  for (const module of modules.values()) if (module.providers.has(token)) module.distance = distance;
}
