/*
 * Loaded before libc (LD_PRELOAD), lets a program see another time of day. libfaketime cannot do it to a redis-server: it
 * asks for memory, and jemalloc for the time.
 *
 * CLOCK_AHEAD  seconds by which the clock is ahead, at first
 * CLOCK_RATE   how many times as fast as others it goes
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double number(const char *name, double otherwise) {
  const char *text = getenv(name);
  return text ? strtod(text, NULL) : otherwise;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static double begin = 0;
  int failed = (int)syscall(SYS_clock_gettime, clock, time);
  if (failed || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return failed;
  double now = (double)time->tv_sec + (double)time->tv_nsec / 1e9;
  if (begin == 0) begin = now;
  double seen = begin + number("CLOCK_AHEAD", 0) + (now - begin) * number("CLOCK_RATE", 1);
  time->tv_sec = (time_t)seen;
  time->tv_nsec = (long)((seen - (double)time->tv_sec) * 1e9);
  return 0;
}

int gettimeofday(struct timeval *restrict value, void *restrict zone) {
  struct timespec time;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &time);
  value->tv_sec = time.tv_sec;
  value->tv_usec = time.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *value) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (value) *value = now.tv_sec;
  return now.tv_sec;
}
