/* Loaded in front of the C library (LD_PRELOAD), so that a fault comes at a chosen call and not only at a chosen time.
 *   FAULT_KILL=n    dies by SIGKILL just before the n-th call that changes what lies in a folder, or makes it durable
 *   FAULT_FULL=n    from the n-th write of any file on the disk is full
 *   FAULT_CLOCK=s   the wall clock jumps s seconds ahead and back again at every look
 *   FAULT_COUNT=f   how many calls of the first and of the second kind there were, at the end, into file f
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static long asked(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

static long changes, writes, looks;

static void change(void) {
  static long fatal = -1;
  if (fatal < 0) fatal = asked("FAULT_KILL");
  if (__atomic_add_fetch(&changes, 1, __ATOMIC_SEQ_CST) == fatal) kill(getpid(), SIGKILL);
}

static int full(int file) {
  static long first = -1;
  struct stat status;
  if (file <= 2 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  if (first < 0) first = asked("FAULT_FULL");
  if (__atomic_add_fetch(&writes, 1, __ATOMIC_SEQ_CST) < first || first == 0) return 0;
  errno = ENOSPC;
  return 1;
}

__attribute__((destructor)) static void tell(void) {
  const char *into = getenv("FAULT_COUNT");
  FILE *file = into ? fopen(into, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%ld %ld\n", changes, writes);
  fclose(file);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPENS(name)                                    \
  int name(const char *path, int flags, ...) {         \
    va_list more;                                      \
    va_start(more, flags);                             \
    const mode_t mode = va_arg(more, mode_t);          \
    va_end(more);                                      \
    if (flags & O_CREAT) change();                     \
    return NEXT(name)(path, flags, mode);              \
  }
OPENS(open)
OPENS(open64)

int rename(const char *from, const char *to) { change(); return NEXT(rename)(from, to); }
int unlink(const char *path) { change(); return NEXT(unlink)(path); }
int remove(const char *path) { change(); return NEXT(remove)(path); }
int mkdir(const char *path, mode_t mode) { change(); return NEXT(mkdir)(path, mode); }
int fsync(int file) { change(); return NEXT(fsync)(file); }
int ftruncate(int file, off_t size) { change(); return NEXT(ftruncate)(file, size); }

ssize_t write(int file, const void *from, size_t size) { return full(file) ? -1 : NEXT(write)(file, from, size); }
ssize_t pwrite(int file, const void *from, size_t size, off_t at) { return full(file) ? -1 : NEXT(pwrite)(file, from, size, at); }
ssize_t pwrite64(int file, const void *from, size_t size, off64_t at) { return full(file) ? -1 : NEXT(pwrite64)(file, from, size, at); }
int posix_fallocate(int file, off_t at, off_t size) { return full(file) ? ENOSPC : NEXT(posix_fallocate)(file, at, size); }
int posix_fallocate64(int file, off64_t at, off64_t size) { return full(file) ? ENOSPC : NEXT(posix_fallocate64)(file, at, size); }

static time_t jump(void) {
  static long far = -1;
  if (far < 0) far = asked("FAULT_CLOCK");
  return __atomic_add_fetch(&looks, 1, __ATOMIC_SEQ_CST) % 2 ? far : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  const int failed = NEXT(clock_gettime)(clock, now);
  if (!failed && clock == CLOCK_REALTIME) now->tv_sec += jump();
  return failed;
}
time_t time(time_t *into) {
  const time_t now = NEXT(time)(NULL) + jump();
  if (into) *into = now;
  return now;
}
