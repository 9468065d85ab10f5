import { delimiter } from 'node:path';

/** Who asks for a program: servers that keep data, or those that watch them. */
export type ServerRole = 'data' | 'sentinel';

let started = 0;

/**
 * The program of the next server: what REDIS_SERVER names, or `redis-server` on PATH.
 *
 * Several programs in REDIS_SERVER, separated as in PATH, take turns, so that the servers of one test are different
 * ones. REDIS_SENTINEL names another program for sentinels.
 */
export function nextServerProgram(role: ServerRole, env = process.env): string {
  const sentinel = env['REDIS_SENTINEL'];
  if (role === 'sentinel' && sentinel) return sentinel;
  const programs = (env['REDIS_SERVER'] ?? '').split(delimiter).filter(Boolean);
  const program = programs[started % programs.length] ?? 'redis-server';
  started++;
  return program;
}
