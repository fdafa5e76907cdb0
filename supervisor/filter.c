/*
 * The seccomp filter that the host compiled: kept as it came, installed in every program, and proved once.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "supervisor.h"

static struct sock_filter filter[MAX_FILTER_BYTES / sizeof(struct sock_filter)];

void filter_set(const uint8_t *bytes, uint32_t length) {
  if (length > MAX_FILTER_BYTES || length % sizeof filter[0]) nonsense("the filter is too long or cut");
  memcpy(filter, bytes, length);
  settings.filter_length = (uint16_t)(length / sizeof filter[0]);
}

int filter_install(void) {
  struct sock_fprog program = {.len = settings.filter_length, .filter = filter};
  if (settings.filter_length == 0) return 0;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

struct proof {
  uint32_t errors[3];
  uint32_t process_limit;
  uint64_t capabilities;
};

/* Whether this kernel keeps its user from making a process beyond a limit, which is none at all here. */
static bool is_process_refused(void) {
  struct rlimit none = {0, 0};
  pid_t pid;
  if (setrlimit(RLIMIT_NPROC, &none)) return false;
  pid = fork();
  if (pid == 0) _exit(0);
  if (pid > 0) waitpid(pid, NULL, 0);
  return pid < 0 && errno == EAGAIN;
}

static void probe(int fd) {
  struct proof proof = {.errors = {~0u, ~0u, ~0u}};
  if (!become(settings.probe_user, settings.probe_group, NULL, 0)) _exit(1);
  proof.process_limit = is_process_refused();
  if (filter_install()) _exit(1);
  proof.capabilities = own_capabilities(false);
  for (int i = 0; i < 3; i++) {
    errno = 0;
    proof.errors[i] = syscall((long)settings.probes[i], 0, 0, 0, 0, 0, 0) < 0 ? (uint32_t)errno : 0;
  }
  _exit(write(fd, &proof, sizeof proof) == (ssize_t)sizeof proof ? 0 : 1);
}

/* Lets a child try what the filter must refuse: an asserted filter is no filter. */
void filter_probe(uint32_t errors[3], uint64_t *capabilities, bool *process_limit) {
  struct proof proof = {.errors = {~0u, ~0u, ~0u}, .capabilities = ~0ull};
  struct pollfd p = {.events = POLLIN};
  int fds[2];
  pid_t pid;
  if (pipe(fds)) trouble(CODE_BROKEN, "no pipe for the probe");
  pid = fork();
  if (pid < 0) trouble(CODE_BROKEN, "no process for the probe");
  if (pid == 0) {
    if (dup2(fds[1], 3) < 0) _exit(1);
    close(0);
    close(1);
    close_from(4);
    probe(3);
  }
  close(fds[1]);
  p.fd = fds[0];
  /* A call that waits for ever is not refused. */
  if (poll(&p, 1, 2000) == 1 && read(fds[0], &proof, sizeof proof) != (ssize_t)sizeof proof) proof = (struct proof){.errors = {~0u, ~0u, ~0u}, .capabilities = ~0ull};
  close(fds[0]);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  memcpy(errors, proof.errors, sizeof proof.errors);
  *capabilities = proof.capabilities;
  *process_limit = proof.process_limit == 1;
}
