/*
 * Pid 1: begins, then waits for whatever comes first, for ever.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>

#include "supervisor.h"

/* The control stream, signals, the resolver, and four descriptors for each stream. */
#define MAX_POLL (4 + MAX_STREAMS * 4)

/* A loop that took longer was frozen: a paused container. */
#define FROZEN_MS 3000

struct settings settings;
uint64_t wake_at;

static int signal_fd = -1;

#ifdef TEST_SWITCHES
uint32_t missing_facts;
#endif

uint64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t now_ms(void) { return now_us() / 1000; }

void wake_by(uint64_t at) {
  if (at < wake_at) wake_at = at;
}

/* Diagnostics for people; never waits. */
static void say(const char *text) {
  struct pollfd p = {.fd = 2, .events = POLLOUT};
  char line[MAX_TROUBLE_BYTES + 16] = "supervisor: ";
  if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT)) return;
  strncat(line, text, MAX_TROUBLE_BYTES);
  strcat(line, "\n");
  if (write(2, line, strlen(line)) < 0) return;
}

void trouble(uint8_t code, const char *text) {
  say(text);
  if (settings.done) {
    uint64_t until = now_ms() + 200;
    if (control_room() >= 1024) send_frame(F_TROUBLE, 0, &code, 1, text, strnlen(text, MAX_TROUBLE_BYTES));
    while (control_write() && now_ms() < until) {
      struct pollfd p = {.fd = 1, .events = POLLOUT};
      if (poll(&p, 1, 50) == 1 && (p.revents & (POLLERR | POLLHUP))) break;
    }
  }
  _exit(code);
}

void nonsense(const char *text) { trouble(CODE_NONSENSE, text); }

/* What the host asks for about how pid 1 was started: its variables first, kept until SETUP. Nothing beyond the bound. */
static char told[MAX_START_BYTES];
static size_t variables_length;

/*
 * Nothing of the image's environment or of the arguments stays readable (gVisor shows them to programs). What is kept until SETUP lies
 * in memory that is nobody else's.
 */
static void forget_environment(char **argv, char **env) {
  for (char **each = env; *each; each++) {
    size_t length = strlen(*each) + 1;
    if (variables_length + length <= sizeof told) memcpy(told + variables_length, *each, length);
    variables_length += length;
    memset(*each, 0, length);
  }
  for (int i = 1; argv[i]; i++) memset(argv[i], 0, strlen(argv[i]));
  *env = NULL;
}

static void tell(uint8_t type, size_t length) {
  uint32_t bytes = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
  send_frame(type, 0, &bytes, sizeof bytes, told, length > sizeof told ? 0 : length);
  memset(told, 0, sizeof told);
}

/* Answers what SETUP wants to be told; asked or not, the variables are forgotten. */
void tell_start(uint32_t wanted) {
  int fd;
  ssize_t length = 0;
  size_t all = 0;
  if (wanted & SETUP_VARIABLES) tell(F_VARIABLES, variables_length);
  memset(told, 0, sizeof told);
  if (!(wanted & SETUP_MOUNTS)) return;
  fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    while (all < sizeof told && (length = read(fd, told + all, sizeof told - all)) > 0) all += (size_t)length;
    close(fd);
  }
  if (length < 0) all = 0;
  tell(F_MOUNTS, all < sizeof told ? all : sizeof told + 1);
}

static void raise_descriptors(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit)) trouble(CODE_BROKEN, "the limit of descriptors cannot be read");
  original_descriptors[0] = limit.rlim_cur;
  original_descriptors[1] = limit.rlim_max;
  limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
  setrlimit(RLIMIT_NOFILE, &limit);
}

static void begin(char **argv, char **env) {
  sigset_t signals;
  prctl(PR_SET_DUMPABLE, 0);
  if (getpid() != 1) {
    say("this program is pid 1 of a sandbox and nothing else");
    _exit(CODE_PLACE);
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) trouble(CODE_BROKEN, "no_new_privs cannot be set");
#ifdef TEST_SWITCHES
  for (int i = 1; argv[i]; i++) {
    if (!strcmp(argv[i], "no-openat2")) missing_facts |= FACT_OPENAT2;
    if (!strcmp(argv[i], "no-subreaper")) missing_facts |= FACT_SUBREAPER;
  }
#endif
  forget_environment(argv, env);
  close_from(3); /* whatever its own starter had open */
  signal(SIGPIPE, SIG_IGN);
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  if (signal_fd < 0) trouble(CODE_BROKEN, "signalfd failed");
  raise_descriptors();
  umask(0);
  if (chdir("/")) trouble(CODE_BROKEN, "there is no root folder");
  for (int fd = 0; fd < 2; fd++) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK)) trouble(CODE_CUT, "there is no control stream");
  }
}

/* SIGTERM counts from outside the namespace only, where its sender has no number here. */
static void read_signals(void) {
  struct signalfd_siginfo info;
  while (read(signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
    if (info.ssi_signo == SIGTERM && info.ssi_code == SI_USER && info.ssi_pid == 0) trouble(CODE_ASKED, "SIGTERM from outside");
  }
}

int main(int argc, char **argv, char **env) {
  static struct pollfd fds[MAX_POLL];
  uint64_t heard, before;
  if (getpid() != 1 && argc > 1) return tool(argc, argv);
  begin(argv, env);
  heard = before = now_ms();
  for (;;) {
    uint64_t now;
    int count = 4, timeout;
    fds[0] = (struct pollfd){.fd = dispatch_can_take() ? 0 : -1, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = 1, .events = control_wants_write() ? POLLOUT : 0};
    fds[2] = (struct pollfd){.fd = signal_fd, .events = POLLIN};
    fds[3] = (struct pollfd){.fd = resolver_descriptor(), .events = POLLIN};
    count += streams_poll_add(fds + count);
    now = now_ms();
    timeout = wake_at <= now ? 0 : (int)(wake_at - now);
    if (poll(fds, (nfds_t)count, timeout) < 0 && errno != EINTR) trouble(CODE_BROKEN, "poll failed");
    now = now_ms();
    if (now - before > FROZEN_MS) heard += now - before;
    before = now;
    wake_at = now + 1000;
    if (fds[1].revents & (POLLERR | POLLNVAL)) trouble(CODE_CUT, "the control stream ended");
    if (fds[0].revents) {
      control_read();
      heard = now;
    }
    if (settings.done && now - heard > settings.silence_ms) trouble(CODE_SILENCE, "the host was silent");
    control_take();
    read_signals();
    reap();
    if (fds[3].revents) resolver_answer();
    streams_poll_result(fds + 4, count - 4);
    dispatch_due();
    trees_pass();
    streams_events();
    dispatch_ended();
    numbers_push();
    netlink_look();
    last_words_look();
    control_write();
  }
}
