/*
 * File operations run in processes of their own: a dead mount or a huge folder must stop nothing else. One waits in advance, so that
 * a full table of processes stops no file operation. What it does is in files.c and archive.c.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "files.h"
#include "supervisor.h"

struct spare {
  pid_t pid;
  int in, out, status;
  struct job *job; /* shared with the process */
};

static struct spare spare = {.in = -1, .out = -1, .status = -1};

static int open_pipe(int pair[2]) {
  if (pipe2(pair, O_CLOEXEC) == 0) return 0;
  pair[0] = pair[1] = -1;
  return -1;
}

static void close_pair(int pair[2]) {
  stream_close_fd(&pair[0]);
  stream_close_fd(&pair[1]);
}

/* How long an operation that writes may take to clean up when it is given up. */
#define CLEAN_UP_MS 1000

/* The waiting process: it begins when the job is there. */
static void wait_for_job(const struct job *job, const int fds[3]) {
  sigset_t all;
  int high[3];
  char go;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  for (int i = 0; i < 3; i++) high[i] = fcntl(fds[i], F_DUPFD, 16);
  for (int i = 0; i < 3; i++) {
    if (high[i] < 0 || dup2(high[i], i) < 0) _exit(1);
  }
  close_from(3);
  if (read(0, &go, 1) != 1) _exit(0);
  files_run(job);
}

/* Makes the process that waits; without one the next operation tries again. */
void file_prepare(void) {
  int in[2] = {-1, -1}, out[2] = {-1, -1}, status[2] = {-1, -1};
  struct job *job;
  pid_t pid = -1;
  if (spare.pid) return;
  job = mmap(NULL, sizeof *job, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (job == MAP_FAILED) return;
  if (!open_pipe(in) && !open_pipe(out) && !open_pipe(status)) pid = fork();
  if (pid == 0) {
    int fds[3] = {in[0], out[1], status[1]};
    wait_for_job(job, fds);
    _exit(0);
  }
  if (pid < 0) {
    munmap(job, sizeof *job);
    close_pair(in);
    close_pair(out);
    close_pair(status);
    return;
  }
  close(in[0]);
  close(out[1]);
  close(status[1]);
  fcntl(in[1], F_SETFL, O_NONBLOCK);
  fcntl(out[0], F_SETFL, O_NONBLOCK);
  fcntl(status[0], F_SETFL, O_NONBLOCK);
  spare = (struct spare){.pid = pid, .in = in[1], .out = out[0], .status = status[0], .job = job};
}

pid_t file_spare(void) { return spare.pid; }

bool file_spare_ended(pid_t pid) {
  if (pid == 0 || pid != spare.pid) return false;
  munmap(spare.job, sizeof *spare.job);
  close(spare.in);
  close(spare.out);
  close(spare.status);
  spare = (struct spare){.in = -1, .out = -1, .status = -1};
  return true;
}

/* Whether a path is a sequence of names: none empty, none "." or "..". */
static bool is_plain_path(const char *path) {
  if (*path == 0) return true;
  for (;;) {
    size_t length = strcspn(path, "/");
    if (length == 0 || (length == 1 && path[0] == '.') || (length == 2 && path[0] == '.' && path[1] == '.')) return false;
    if (path[length] == 0) return true;
    path += length + 1;
  }
}

static const uint8_t *take_string(char *to, const uint8_t *from, uint16_t length) {
  if (length > MAX_PATH_BYTES || memchr(from, 0, length)) nonsense("a path of FILE is too long or has a NUL");
  memcpy(to, from, length);
  to[length] = 0;
  return from + length;
}

static void fill_job(struct job *job, const uint8_t *payload, uint32_t length) {
  const uint8_t *at = payload + FILE_BYTES;
  memcpy(&job->frame, payload, sizeof job->frame);
  if (length != FILE_BYTES + (uint32_t)job->frame.folder_bytes + job->frame.path_bytes + job->frame.other_bytes) nonsense("FILE's paths do not fit");
  at = take_string(job->folder, at, job->frame.folder_bytes);
  at = take_string(job->path, at, job->frame.path_bytes);
  take_string(job->other, at, job->frame.other_bytes);
  if (job->folder[0] != '/' || !is_plain_path(job->path) || !is_plain_path(job->other)) nonsense("FILE's folder is not absolute, or a path has a component that is empty, \".\" or \"..\"");
  if (job->frame.verb < FILE_LOOK || job->frame.verb > FILE_UNPACK || job->frame.flags > 127) nonsense("an unknown verb or flag of FILE");
  if (job->frame.deadline_ms == 0 || job->frame.deadline_ms > 3600000) nonsense("FILE's deadline is out of range");
}

static bool takes_input(const struct job *job) { return job->frame.verb == FILE_WRITE || job->frame.verb == FILE_UNPACK; }

void file_begin(uint32_t number, const uint8_t *payload, uint32_t length) {
  static struct job checked;
  struct stream *s = stream_begin(number, KIND_FILE);
  fill_job(&checked, payload, length);
  s->wants_input = takes_input(&checked);
  if (settings.apart ? checked.frame.user == getuid() : checked.frame.user != getuid()) {
    stream_fail(s, END_FAILED, STAGE_USER, EPERM);
    return;
  }
  file_prepare();
  if (!spare.pid) {
    stream_fail(s, END_REFUSED, STAGE_FORK, EAGAIN);
    return;
  }
  memcpy(spare.job, &checked, sizeof checked);
  s->job = spare.job;
  s->pid = spare.pid;
  s->in_fd = spare.in;
  s->out_fd = spare.out;
  s->status_fd = spare.status;
  s->err_fd = -1;
  s->deadline = now_ms() + checked.frame.deadline_ms;
  s->input_ended = !s->wants_input;
  /* The pipe is new and empty: one byte fits. Where that fails a program of the same user has just killed the helper. */
  if (write(s->in_fd, "", 1) != 1) stream_close_input(s);
  spare = (struct spare){.in = -1, .out = -1, .status = -1};
  file_prepare();
}

/* Gives an operation up. One that writes sees that its input was cut off, and cleans up; asked once more, or else, it is killed. */
void file_stop(struct stream *s, uint8_t end) {
  bool may_clean_up = s->wants_input && !s->rejected;
  stream_fail(s, end, 0, 0);
  stream_close_input(s);
  if (s->pid <= 0) return;
  if (may_clean_up) {
    s->deadline = now_ms() + CLEAN_UP_MS;
    wake_by(s->deadline);
  } else {
    kill(s->pid, SIGKILL);
  }
}

/* INPUT_END: its end is no longer one that something else has cut. Said before the pipe is closed. */
void file_input_whole(struct stream *s) {
  if (s->job) atomic_store(&s->job->input_is_whole, true);
}

void file_forget(struct stream *s) {
  munmap(s->job, sizeof *s->job);
  s->job = NULL;
}
