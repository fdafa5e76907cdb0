/*
 * Starts wardens, and hears from them and from file helpers what became of them.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>

#include "supervisor.h"

static int close_pair(int pair[2]) {
  stream_close_fd(&pair[0]);
  stream_close_fd(&pair[1]);
  return -1;
}

/* A pipe that a program of another user may open again by name; `ours` is the end that must not wait. */
static int open_pipe(int pair[2], int ours) {
  if (pipe2(pair, O_CLOEXEC)) {
    pair[0] = pair[1] = -1;
    return -1;
  }
  fchmod(pair[0], 0666);
  fchmod(pair[1], 0666);
  return fcntl(pair[ours], F_SETFL, O_NONBLOCK) ? close_pair(pair) : 0;
}

static int open_terminal(int pair[2], const struct frame_spawn *frame) {
  struct winsize size = {.ws_row = frame->rows, .ws_col = frame->columns};
  char name[32];
  int unlock = 0, number = 0;
  pair[1] = -1;
  pair[0] = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (pair[0] < 0) return -1;
  if (ioctl(pair[0], TIOCSPTLCK, &unlock) || ioctl(pair[0], TIOCGPTN, &number)) return close_pair(pair);
  put_number(put_text(name, "/dev/pts/"), (uint64_t)number);
  pair[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (pair[1] < 0) return close_pair(pair);
  fchmod(pair[1], 0666);
  ioctl(pair[0], TIOCSWINSZ, &size);
  return 0;
}

static void check_frame(const struct frame_spawn *frame) {
  if (frame->flags & ~(uint32_t)(SPAWN_INPUT | SPAWN_TERMINAL | SPAWN_HELD | SPAWN_SETUP)) nonsense("unknown SPAWN flags");
  if (frame->argument_count == 0) nonsense("SPAWN without a program");
  if (frame->strings_bytes < 2u + frame->argument_count + 2u * frame->variable_count || frame->strings_bytes > MAX_STRINGS_BYTES) {
    nonsense("SPAWN's strings do not fit its counts");
  }
}

/* The descriptors of the warden: strings, output, errors, status; in[], out[], err[], status[] as pipe() orders them. */
struct pipes {
  int in[2], out[2], err[2], status[2], terminal[2];
};

/* The pipes that the program is to have. gVisor, which has no subreaper, changes no mode of a pipe: there they are made as its user. */
static int open_program_pipes(struct pipes *p, const struct frame_spawn *frame) {
  int result, error;
  if (settings.tags && !make_as(frame->user, frame->group)) {
    own_again();
    errno = EPERM;
    return -1;
  }
  result = open_pipe(p->in, 1);
  if (!result && !(frame->flags & SPAWN_TERMINAL) && (open_pipe(p->out, 0) || open_pipe(p->err, 0))) result = -1;
  error = errno;
  if (settings.tags) own_again();
  errno = error;
  return result;
}

static int open_pipes(struct pipes *p, const struct frame_spawn *frame) {
  if (open_program_pipes(p, frame) || open_pipe(p->status, 0)) return STAGE_PIPES;
  return frame->flags & SPAWN_TERMINAL && open_terminal(p->terminal, frame) ? STAGE_TERMINAL : 0;
}

static void close_pipes(struct pipes *p) {
  close_pair(p->in);
  close_pair(p->out);
  close_pair(p->err);
  close_pair(p->status);
  close_pair(p->terminal);
}

/* Where a tree is told by a group, it is one of the host's list, by the stream's place in the table. */
static uint32_t tag_of(const struct stream *s) { return settings.tags ? settings.first_tag + (uint32_t)(s - streams) : 0; }

/* The user must be another one than ours where we stand apart, and has to be ours where we do not. */
static bool user_fits(const struct frame_spawn *frame) {
  if (!settings.apart) return frame->user == getuid() && frame->group == getgid() && !(frame->flags & SPAWN_SETUP);
  return frame->user != getuid() && frame->user != UINT32_MAX && frame->group != UINT32_MAX;
}

void spawn(uint32_t number, const struct frame_spawn *frame) {
  struct pipes p = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
  struct stream *s = stream_begin(number, KIND_PROGRAM);
  bool terminal = (frame->flags & SPAWN_TERMINAL) != 0;
  uint32_t tag = tag_of(s);
  int stage;
  check_frame(frame);
  s->strings_due = s->strings_left = frame->strings_bytes;
  s->has_terminal = terminal;
  s->held = (frame->flags & SPAWN_HELD) != 0;
  s->wants_input = (frame->flags & SPAWN_INPUT) != 0;
  if (!s->wants_input && !terminal) s->input_ended = true;
  if (!user_fits(frame)) {
    stream_fail(s, END_FAILED, STAGE_USER, EPERM);
    return;
  }
  stage = open_pipes(&p, frame);
  if (stage == 0) {
    s->pid = fork();
    if (s->pid < 0) stage = STAGE_FORK;
  }
  if (stage != 0) {
    int error = errno;
    s->pid = 0;
    s->shut_in = true;
    close_pipes(&p);
    stream_fail(s, END_FAILED, (uint8_t)stage, (uint32_t)error);
    return;
  }
  if (s->pid == 0) {
    int fds[4] = {p.in[0], terminal ? p.terminal[1] : p.out[1], terminal ? p.terminal[1] : p.err[1], p.status[1]};
    warden(frame, settings.tags ? &tag : NULL, fds);
  }
  s->in_fd = p.in[1];
  s->status_fd = p.status[0];
  s->out_fd = terminal ? p.terminal[0] : p.out[0];
  s->err_fd = terminal ? -1 : p.err[0];
  s->terminal_fd = terminal ? p.terminal[0] : -1;
  close(p.in[0]);
  close(p.status[1]);
  close(terminal ? p.terminal[1] : p.out[1]);
  if (!terminal) close(p.err[1]);
}

static void take_report(struct stream *s, const struct report *r) {
  switch (r->what) {
    case REPORT_READY:
    case REPORT_STARTED:
      s->program = (pid_t)r->pid;
      if (!s->started) s->due |= DUE_STARTED;
      s->started = true;
      break;
    case REPORT_EXIT:
      s->exit_code = r->code;
      s->exit_signal = r->signal;
      s->user_us = r->first;
      s->system_us = r->second;
      s->max_resident_kb = r->third;
      s->exited = true;
      s->due |= DUE_EXIT;
      break;
    case REPORT_GONE:
    case REPORT_DONE:
      s->first = r->first;
      s->second = r->second;
      if (r->what == REPORT_GONE || s->rejected) break;
      s->done = true; /* failed or not: its output comes first */
      if (r->stage) s->end = END_FAILED;
      s->stage = r->stage;
      s->error = r->error;
      break;
    case REPORT_FAILED:
      s->first = r->first;
      s->second = r->second;
      stream_fail(s, END_FAILED, r->stage, r->error);
      break;
    default:
      trouble(CODE_BROKEN, "a child's report has an unknown kind");
  }
}

/* What a warden or helper has written. */
void spawn_report(struct stream *s) {
  struct report r;
  while (s->status_fd >= 0) {
    ssize_t length = read(s->status_fd, &r, sizeof r);
    if (length == (ssize_t)sizeof r) take_report(s, &r);
    else if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
    else stream_close_fd(&s->status_fd);
  }
}

static void warden_ended(struct stream *s, bool well) {
  s->pid = 0;
  if (well) {
    if (!settings.tags) s->gone = true;
    else rogues_possible = true; /* daemons of this tree may be children of pid 1: the next pass looks */
    return;
  }
  s->lost = true;
  s->rejected = false;
  stream_fail(s, END_LOST, 0, 0);
  rogues_possible = true;
  tree_end(s, 0); /* without what is left of a grace */
}

static void helper_ended(struct stream *s) {
  s->pid = 0;
  if (!s->done) stream_fail(s, END_FAILED, STAGE_HELPER, 0);
}

static struct stream *stream_of(pid_t pid) {
  for (int i = 0; i < (int)MAX_STREAMS; i++) {
    if (streams[i].kind != KIND_FREE && streams[i].pid == pid) return &streams[i];
  }
  return NULL;
}

/* Takes what has ended. SIGCHLD only wakes the loop: which child it was is asked here. */
void reap(void) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    struct stream *s = stream_of(pid);
    if (WIFSTOPPED(status)) {
      /* Only a program of the same user can have stopped a warden or helper. */
      if (s || pid == file_spare()) kill(pid, SIGKILL);
      continue;
    }
    if (!s) {
      if (!file_spare_ended(pid)) rogues_possible = true;
      continue;
    }
    spawn_report(s);
    if (s->kind == KIND_FILE) helper_ended(s);
    else warden_ended(s, WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}
