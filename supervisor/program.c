/*
 * What runs in forked children: the warden, and the last steps before a program begins. The warden is a child subreaper: every
 * daemon of its program comes to rest below it. It holds no capability that a program could use: it is as closed as pid 1.
 */
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>

#include "supervisor.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Descriptors of a warden. */
enum { FD_IN, FD_OUT, FD_ERR, FD_STATUS, FD_STRINGS, FD_BEGUN };

/* Where close_range is not known: no descriptor of ours has a larger number. */
#define MAX_OWN_DESCRIPTOR (MAX_STREAMS * 5 + 64)

/* Without KILL, which pid 1 has: so a setup command that becomes pid 1's user still may not trace it. */
#define SETUP_ONLY ((1ull << CAP_CHOWN) | (1ull << CAP_DAC_OVERRIDE) | (1ull << CAP_FOWNER))
#define SETUP_CAPABILITIES (SETUP_ONLY | (1ull << CAP_SETUID) | (1ull << CAP_SETGID))

uint64_t original_descriptors[2];

void close_from(int first) {
  if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0) return;
  for (int fd = first; fd < (int)MAX_OWN_DESCRIPTOR; fd++) close(fd);
}

static int set_capabilities(uint64_t set) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {
      {.effective = (uint32_t)set, .permitted = (uint32_t)set},
      {.effective = (uint32_t)(set >> 32), .permitted = (uint32_t)(set >> 32)},
  };
  return (int)syscall(SYS_capset, &header, data);
}

uint64_t own_capabilities(bool effective) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {{0}};
  if (syscall(SYS_capget, &header, data)) return ~0ull;
  if (effective) return data[0].effective | (uint64_t)data[1].effective << 32;
  return data[0].permitted | (uint64_t)data[1].permitted << 32;
}

/*
 * Becomes the user with exactly these capabilities and no group but its own and the tag. Asked again afterwards: a switch that
 * answered well and did nothing is none.
 */
bool become(uint32_t user, uint32_t group, const uint32_t *tag, uint64_t capabilities) {
  uid_t users[3];
  gid_t groups[3];
  if (settings.apart) {
    if (capabilities) prctl(PR_SET_KEEPCAPS, 1);
    if (setgroups(tag ? 1 : 0, tag)) return false;
    if (setresgid(group, group, group)) return false;
    if (setresuid(user, user, user)) return false;
    if (set_capabilities(capabilities)) return false;
    prctl(PR_SET_DUMPABLE, 0);
  } else if (set_capabilities(0)) {
    return false;
  }
  if (getresuid(&users[0], &users[1], &users[2]) || getresgid(&groups[0], &groups[1], &groups[2])) return false;
  for (int i = 0; i < 3; i++) {
    if (users[i] != user || groups[i] != group) errno = EPERM;
    if (users[i] != user || groups[i] != group) return false;
  }
  errno = EPERM;
  return own_capabilities(false) == capabilities && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

/*
 * Where pid 1 was given SETPCAP: nothing in this sandbox can ever have a capability again that it does not have now, and pid 1 gives
 * SETPCAP itself up. Where it is to do setup commands they find what they need. Pid 1 never calls exec, and so loses nothing.
 */
void bound_capabilities(void) {
  uint64_t own = own_capabilities(false), kept = own & SETUP_ONLY ? own & SETUP_CAPABILITIES : 0;
  uint64_t less = own & ~(1ull << CAP_SETPCAP | 1ull << CAP_NET_BIND_SERVICE);
  for (int capability = 0; own & 1ull << CAP_SETPCAP && capability < 64 && prctl(PR_CAPBSET_READ, capability) >= 0; capability++) {
    if (!(kept & 1ull << capability) && prctl(PR_CAPBSET_DROP, capability)) trouble(CODE_BROKEN, "the bounding set cannot be made smaller");
  }
  if (less != own && set_capabilities(less)) trouble(CODE_BROKEN, "what only the start needs cannot be given up");
}

/*
 * Pid 1 becomes another user and keeps what it has. Where programs are user 0 that is needed: user 0 owns the files in /proc of
 * every process that is not dumpable. As an ordinary user pid 1 is dumpable: then they are its own, and user 0 without
 * capabilities may not even read them.
 */
void become_self(uint32_t user, uint32_t group) {
  uint64_t kept = own_capabilities(false);
  prctl(PR_SET_KEEPCAPS, 1);
  if (setgroups(0, NULL) || setresgid(group, group, group) || setresuid(user, user, user) || set_capabilities(kept)) {
    trouble(CODE_BROKEN, "pid 1 cannot become the user of SETUP");
  }
  prctl(PR_SET_KEEPCAPS, 0);
  prctl(PR_SET_DUMPABLE, user != 0);
}

/*
 * What pid 1 makes from here on is the user's, until own_again(). Its real and saved user stay its own, and so nobody may signal
 * or trace it meanwhile.
 */
bool make_as(uint32_t user, uint32_t group) {
  return !setresgid((gid_t)-1, group, (gid_t)-1) && !setresuid((uid_t)-1, user, (uid_t)-1);
}

void own_again(void) {
  uint64_t kept = own_capabilities(false);
  if (setresuid((uid_t)-1, getuid(), (uid_t)-1) || set_capabilities(kept) || setresgid((gid_t)-1, getgid(), (gid_t)-1)) {
    trouble(CODE_BROKEN, "pid 1 cannot be its own user again");
  }
  prctl(PR_SET_DUMPABLE, getuid() != 0);
}

static void report(int fd, struct report r) {
  if (write(fd, &r, sizeof r) != (ssize_t)sizeof r) _exit(1);
}

/* Reads the strings; NULL with errno when they do not come whole. */
static char *read_strings(int fd, uint32_t bytes) {
  char *strings = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (strings == MAP_FAILED) return NULL;
  for (uint32_t at = 0; at < bytes;) {
    ssize_t length = read(fd, strings + at, bytes - at);
    if (length < 0 && errno == EINTR) continue;
    if (length == 0) errno = EPIPE;
    if (length <= 0) return NULL;
    at += (uint32_t)length;
  }
  return strings;
}

/*
 * Splits the strings into folder, arguments, NULL, variables, NULL, as exec takes them; false when they do not fit the counts.
 */
static bool split_strings(char *strings, const struct frame_spawn *frame, char **list) {
  char *at = strings, *end = strings + frame->strings_bytes;
  int count = 1 + frame->argument_count + frame->variable_count;
  for (int i = 0; i < count; i++) {
    char *zero = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
    if (!zero) return false;
    list[i <= frame->argument_count ? i : i + 1] = at;
    at = zero + 1;
  }
  return at == end;
}

static void fail(int stage) {
  report(FD_BEGUN, (struct report){.what = REPORT_FAILED, .stage = (uint8_t)stage, .error = (uint32_t)errno});
  _exit(127);
}

/* A hint only: a program may lower it again to what the container has, for that needs no capability. */
static void prefer_for_memory(pid_t pid) {
  char path[64];
  int fd;
  put_text(put_number(put_text(path, "/proc/"), (uint64_t)pid), "/oom_score_adj");
  fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, "1000", 4) < 0) errno = 0;
  close(fd);
}

/* By their place in the settings. */
static const int resources[LIMITS] = {RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE, RLIMIT_MEMLOCK, RLIMIT_FSIZE};

/*
 * The limits of SETUP, which a program cannot raise again: that takes a capability. Asked again afterwards: an order that was
 * answered well and did nothing is none.
 */
static void limit_program(void) {
  struct rlimit core = {0, 0}, limit;
  setrlimit(RLIMIT_CORE, &core); /* a program's own affair: elsewhere the engine does it */
  for (int i = 0; i < LIMITS; i++) {
    rlim_t asked = settings.limits[i];
    if (asked == 0) continue;
    if (getrlimit(resources[i], &limit)) fail(STAGE_LIMIT);
    if (limit.rlim_max < asked) asked = limit.rlim_max;
    limit.rlim_cur = limit.rlim_max = asked;
    if (setrlimit(resources[i], &limit) || getrlimit(resources[i], &limit)) fail(STAGE_LIMIT);
    errno = EPERM;
    if (limit.rlim_cur != asked || limit.rlim_max != asked) fail(STAGE_LIMIT);
  }
}

static void restore_process(void) {
  struct rlimit limit = {.rlim_cur = original_descriptors[0], .rlim_max = original_descriptors[1]};
  sigset_t none;
  sigemptyset(&none);
  for (int i = 1; i <= 64; i++) signal(i, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setrlimit(RLIMIT_NOFILE, &limit);
  limit_program();
  umask(022);
}

static void exec_program(char **arguments, char **variables) {
  extern char **environ;
  environ = variables;
  if (arguments[0][0] == 0) errno = ENOENT;
  else execvp(arguments[0], arguments);
  fail(STAGE_PROGRAM);
}

/* The child of the warden that becomes the program. */
static void program(const struct frame_spawn *frame, const uint32_t *tag, char **list) {
  bool setup = (frame->flags & SPAWN_SETUP) != 0;
  char *folder = list[0];
  char **arguments = list + 1, **variables = list + 2 + frame->argument_count;
  char release;
  close(FD_STATUS);
  setsid();
  if (frame->flags & SPAWN_TERMINAL && ioctl(FD_IN, TIOCSCTTY, 0)) fail(STAGE_TERMINAL);
  restore_process();
  if (settings.apart) prefer_for_memory(getpid());
  if (!become(frame->user, frame->group, tag, setup ? SETUP_CAPABILITIES & own_capabilities(false) : 0)) fail(STAGE_USER);
  if (chdir(folder)) fail(STAGE_FOLDER);
  if (frame->flags & SPAWN_HELD) {
    report(FD_BEGUN, (struct report){.what = REPORT_READY, .pid = (uint32_t)getpid()});
    if (read(FD_STRINGS, &release, 1) != 1) _exit(127);
  }
  close(FD_STRINGS);
  if (filter_install()) fail(STAGE_FILTER);
  exec_program(arguments, variables);
}

static void note_signal(int signal) { (void)signal; }

/*
 * Waits until the child says something or has begun. Before its exec it is ours, and of the programs' user already: where a program
 * of that user stops it, it is woken, as often as it takes.
 */
static void await_report(int fd, pid_t child) {
  struct timespec second = {.tv_sec = 1};
  struct pollfd p = {.fd = fd, .events = POLLIN};
  sigset_t others;
  sigfillset(&others);
  sigdelset(&others, SIGCHLD);
  do {
    siginfo_t stopped = {0};
    if (waitid(P_PID, (id_t)child, &stopped, WSTOPPED | WNOHANG) == 0 && stopped.si_pid == child) kill(child, SIGCONT);
  } while (ppoll(&p, 1, &second, &others) <= 0);
}

/* Receives from the child how it began, until its exec closes the pipe; false when it did not. */
static bool await_begin(int fd, pid_t child) {
  struct report r;
  bool failed = false;
  while (await_report(fd, child), read(fd, &r, sizeof r) == (ssize_t)sizeof r) {
    failed = r.what == REPORT_FAILED;
    if (!failed && r.what != REPORT_READY) break;
    report(FD_STATUS, r);
  }
  close(fd);
  /* Where it has our user, its files in /proc are not ours before exec has made it dumpable. */
  if (!failed && !settings.apart) prefer_for_memory(child);
  if (!failed) report(FD_STATUS, (struct report){.what = REPORT_STARTED, .pid = (uint32_t)child});
  return !failed;
}

static uint64_t microseconds(struct timeval t) { return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec; }

/* Buries what ends below it, until there is nothing. */
static void await_end(pid_t child) {
  struct rusage use;
  int status;
  for (;;) {
    pid_t pid = wait4(-1, &status, 0, &use);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) break;
    if (pid != child) continue;
    report(FD_STATUS, (struct report){
                          .what = REPORT_EXIT,
                          .code = WIFEXITED(status) ? (uint8_t)WEXITSTATUS(status) : 0,
                          .signal = WIFSIGNALED(status) ? (uint8_t)WTERMSIG(status) : 0,
                          .first = microseconds(use.ru_utime),
                          .second = microseconds(use.ru_stime),
                          .third = (uint64_t)use.ru_maxrss,
                      });
  }
  getrusage(RUSAGE_CHILDREN, &use);
  report(FD_STATUS, (struct report){.what = REPORT_GONE, .first = microseconds(use.ru_utime) + microseconds(use.ru_stime), .second = (uint64_t)use.ru_maxrss});
}

/* Brings the warden's descriptors to their places and closes all others, the control stream first of all. */
static void arrange_descriptors(const int fds[4], bool terminal) {
  int high[5];
  for (int i = 0; i < 5; i++) {
    int from = i < 4 ? fds[i] : fds[0];
    if (i == FD_IN && terminal) from = fds[1];
    high[i] = fcntl(from, F_DUPFD_CLOEXEC, 16);
    if (high[i] < 0) _exit(1);
  }
  for (int i = 0; i < 5; i++) {
    if (dup2(high[i], i) < 0) _exit(1);
  }
  close_from(FD_BEGUN);
  fcntl(FD_STATUS, F_SETFD, FD_CLOEXEC);
  fcntl(FD_STRINGS, F_SETFD, FD_CLOEXEC);
}

static void warden_fail(int stage, int error) {
  report(FD_STATUS, (struct report){.what = REPORT_FAILED, .stage = (uint8_t)stage, .error = (uint32_t)error});
  _exit(0);
}

void warden(const struct frame_spawn *frame, const uint32_t *tag, const int fds[4]) {
  /* The frame lies in the control stream's buffer; the copy of a fork keeps it as it is. */
  char *strings, **list;
  int begun[2];
  pid_t child;
  sigset_t all;
  if (settings.subreaper) prctl(PR_SET_CHILD_SUBREAPER, 1);
  setsid();
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  signal(SIGCHLD, note_signal);
  arrange_descriptors(fds, (frame->flags & SPAWN_TERMINAL) != 0);
  list = mmap(NULL, (3u + frame->argument_count + frame->variable_count) * sizeof *list, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  strings = list == MAP_FAILED ? NULL : read_strings(FD_STRINGS, frame->strings_bytes);
  if (!strings) warden_fail(STAGE_STRINGS, errno);
  if (!split_strings(strings, frame, list)) warden_fail(STAGE_STRINGS, EINVAL);
  if (pipe2(begun, O_CLOEXEC)) warden_fail(STAGE_PIPES, errno);
  child = fork();
  if (child < 0) warden_fail(STAGE_FORK, errno);
  if (child == 0) {
    close(begun[0]);
    if (dup3(begun[1], FD_BEGUN, O_CLOEXEC) < 0 && begun[1] != FD_BEGUN) _exit(127);
    program(frame, tag, list);
  }
  close(begun[1]);
  for (int fd = FD_IN; fd <= FD_STRINGS; fd++) {
    if (fd != FD_STATUS) close(fd);
  }
  munmap(strings, frame->strings_bytes);
  if (await_begin(begun[0], child)) await_end(child);
  _exit(0);
}
