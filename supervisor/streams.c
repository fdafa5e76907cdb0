/*
 * The table of streams: what waits to go in, what may come out, and when a stream has ended.
 */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "supervisor.h"

/* INPUT of all streams, and two blocks more for each: its first and its last may be partly filled. */
#define BLOCKS (INPUT_TOTAL_BYTES / 1024 + 2 * MAX_STREAMS)
/* What a descriptor in the list of poll() is for. */
enum use { USE_IN, USE_OUT, USE_ERR, USE_STATUS };
struct watched {
  uint16_t stream;
  uint8_t use;
};

struct stream streams[MAX_STREAMS];

static struct block blocks[BLOCKS];
static uint16_t free_block; /* index + 1 */
static bool blocks_ready;
static struct watched watched[MAX_STREAMS * 4];
static int live_count, top; /* no live stream has an index of top or more */
static int accepted_count;  /* live streams that programs began, by connecting */
static uint32_t last_number;
static uint32_t next_own = FIRST_OWN_STREAM;
static uint32_t input_held, output_held, ended_held; /* against the total windows; what ended streams still have out */
static int turn;                                     /* which stream writes first in this round */

static struct stream *stream_new(uint32_t number, uint8_t kind) {
  for (int i = 0; i < (int)MAX_STREAMS; i++) {
    struct stream *s = &streams[i];
    if (s->kind != KIND_FREE) continue;
    memset(s, 0, sizeof *s);
    s->number = number;
    s->kind = kind;
    s->in_fd = s->out_fd = s->err_fd = s->status_fd = s->terminal_fd = -1;
    live_count++;
    if (i >= top) top = i + 1;
    return s;
  }
  return NULL;
}

/* Programs cannot take the places that the host needs. */
bool stream_may_accept(void) { return accepted_count < (int)MAX_ACCEPTED && live_count < (int)MAX_STREAMS; }

struct stream *stream_live(uint32_t number) {
  for (int i = 0; i < top; i++) {
    if (streams[i].kind != KIND_FREE && streams[i].number == number) return &streams[i];
  }
  return NULL;
}

bool stream_was_begun(uint32_t number) {
  if (number >= FIRST_OWN_STREAM) return number < next_own;
  return number != 0 && number <= last_number;
}

/* The host begins a stream; true when there is no place for it, and it is ENDED at once. */
bool stream_refuse(uint32_t number) {
  struct frame_ended frame = {.reason = END_REFUSED, .stage = STAGE_STREAMS, .error = EMFILE};
  if (number == 0 || number >= FIRST_OWN_STREAM || number <= last_number) nonsense("a new stream's number does not rise");
  last_number = number;
  if (live_count < (int)MAX_STREAMS) return false;
  send_frame(F_ENDED, number, &frame, sizeof frame, NULL, 0);
  return true;
}

/* After stream_refuse() said no. */
struct stream *stream_begin(uint32_t number, uint8_t kind) { return stream_new(number, kind); }

struct stream *stream_begin_own(uint8_t kind) {
  if (next_own == UINT32_MAX) trouble(CODE_BROKEN, "no stream numbers are left");
  accepted_count++;
  return stream_new(next_own++, kind);
}

/* The stream ends with this, as soon as what belongs to it is gone. */
void stream_fail(struct stream *s, uint8_t end, uint8_t stage, uint32_t error) {
  if (s->rejected) return;
  s->rejected = true;
  s->end = end;
  s->stage = stage;
  s->error = error;
}

void stream_close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void free_blocks(struct stream *s) {
  while (s->first_block) {
    uint16_t index = s->first_block;
    s->first_block = blocks[index - 1].next;
    blocks[index - 1].next = free_block;
    free_block = index;
  }
  s->last_block = 0;
}

static uint16_t take_block(void) {
  uint16_t index;
  if (!blocks_ready) {
    for (uint16_t i = 0; i < BLOCKS; i++) blocks[i].next = i;
    free_block = BLOCKS;
    blocks_ready = true;
  }
  index = free_block;
  if (!index) trouble(CODE_BROKEN, "no block is free");
  free_block = blocks[index - 1].next;
  blocks[index - 1] = (struct block){0};
  return index;
}

void stream_close_input(struct stream *s) {
  if (s->in_fd == s->out_fd) s->in_fd = -1; /* a socket, or a terminal */
  stream_close_fd(&s->in_fd);
  free_blocks(s);
  s->taken += s->queued;
  s->queued = 0;
  s->shut_in = true;
}

void stream_close_output(struct stream *s) {
  if (s->in_fd == s->out_fd) s->in_fd = -1;
  if (s->terminal_fd == s->out_fd) s->terminal_fd = -1;
  stream_close_fd(&s->out_fd);
  stream_close_fd(&s->err_fd);
}

/* INPUT of the host. */
void stream_input(struct stream *s, const uint8_t *bytes, uint32_t length) {
  if (s->queued + s->taken + length > INPUT_WINDOW_BYTES) nonsense("INPUT beyond the stream's window");
  if (input_held + length > INPUT_TOTAL_BYTES) nonsense("INPUT beyond the total window");
  input_held += length;
  if (s->shut_in) {
    s->taken += length;
    return;
  }
  s->queued += length;
  while (length > 0) {
    struct block *last = s->last_block ? &blocks[s->last_block - 1] : NULL;
    uint32_t part;
    if (!last || last->end == sizeof last->bytes) {
      uint16_t index = take_block();
      if (last) last->next = index;
      else s->first_block = index;
      s->last_block = index;
      last = &blocks[index - 1];
    }
    part = sizeof last->bytes - last->end;
    if (part > length) part = length;
    memcpy(last->bytes + last->end, bytes, part);
    last->end += (uint16_t)part;
    bytes += part;
    length -= part;
  }
}

void stream_input_end(struct stream *s) { s->input_ended = true; }

void stream_credit(uint32_t number, uint32_t bytes) {
  struct stream *s = stream_live(number);
  uint32_t *held = s ? &s->outstanding : &ended_held;
  if (bytes == 0 || bytes > *held) nonsense("CREDIT for more than is outstanding");
  *held -= bytes;
  output_held -= bytes;
  if (s) s->out_hung = s->err_hung = false;
}

static uint32_t credit_of(const struct stream *s) {
  uint32_t own = settings.stream_window - s->outstanding, all = settings.total_window - output_held;
  return own < all ? own : all;
}

bool stream_may_send(const struct stream *s, uint32_t bytes) { return credit_of(s) >= bytes && room_for_data(); }

void stream_count_sent(struct stream *s, uint32_t bytes) {
  s->outstanding += bytes;
  output_held += bytes;
}

/* Where the bytes at the head of the queue go: strings, then a terminal or a pipe. */
static int input_target(const struct stream *s) { return s->strings_left == 0 && s->terminal_fd >= 0 ? s->terminal_fd : s->in_fd; }

static bool input_waits(const struct stream *s) {
  if (s->shut_in || s->connecting) return false;
  return s->queued > 0 || s->release_due || (s->input_ended && s->strings_left == 0 && !s->held && !s->release_due);
}

static void pump_release(struct stream *s) {
  ssize_t written = write(s->in_fd, "", 1);
  if (written < 0 && (errno == EAGAIN || errno == EINTR)) return;
  s->release_due = s->held = false;
}

static void shut_input(struct stream *s) {
  if (s->terminal_fd >= 0) {
    static const char end_of_file = 4;
    if (write(s->terminal_fd, &end_of_file, 1) < 0 && errno == EAGAIN) return;
    s->shut_in = true;
    return;
  }
  if (s->kind == KIND_CONNECTION) {
    if (s->in_fd >= 0) shutdown(s->in_fd, SHUT_WR);
    s->shut_in = true;
    return;
  }
  if (s->kind == KIND_FILE) file_input_whole(s);
  stream_close_input(s);
}

/* Gives the queue to the pipe, terminal or socket, at most a slice of it. */
static void pump_input(struct stream *s) {
  uint32_t budget = SLICE_BYTES;
  while (s->queued > 0 && budget > 0) {
    struct block *first = &blocks[s->first_block - 1];
    uint32_t part = (uint32_t)(first->end - first->start);
    ssize_t written;
    if (s->strings_left > 0 && part > s->strings_left) part = s->strings_left;
    if (part > budget) part = budget;
    written = write(input_target(s), first->bytes + first->start, part);
    if (written < 0) {
      if (errno == EAGAIN || errno == EINTR) return;
      if (s->kind == KIND_CONNECTION) stream_fail(s, END_FAILED, STAGE_WRITE, (uint32_t)errno);
      stream_close_input(s);
      return;
    }
    if (s->strings_left > 0) s->strings_left -= (uint32_t)written;
    first->start += (uint16_t)written;
    s->queued -= (uint32_t)written;
    s->taken += (uint32_t)written;
    budget -= (uint32_t)written;
    if (first->start == first->end) {
      uint16_t index = s->first_block;
      s->first_block = first->next;
      if (!s->first_block) s->last_block = 0;
      first->next = free_block;
      free_block = index;
    }
  }
  if (s->queued > 0 || s->shut_in) return;
  if (s->release_due && s->strings_left == 0) pump_release(s);
  if (s->strings_left == 0 && !s->held && s->terminal_fd >= 0 && s->in_fd >= 0 && s->in_fd != s->terminal_fd) stream_close_fd(&s->in_fd);
  if (s->input_ended && s->strings_left == 0 && !s->held && !s->shut_in) shut_input(s);
}

static void output_ended(struct stream *s, bool err) {
  s->due |= err ? DUE_ERROR_END : DUE_OUTPUT_END;
  if (err) {
    stream_close_fd(&s->err_fd);
    return;
  }
  if (s->terminal_fd >= 0 && s->terminal_fd == s->out_fd) {
    s->terminal_fd = -1;
    stream_close_input(s); /* nobody reads from it any more */
  }
  if (s->in_fd == s->out_fd && s->kind == KIND_CONNECTION && !s->shut_in) {
    s->out_fd = -1; /* the socket still takes input */
    return;
  }
  if (s->in_fd == s->out_fd) s->in_fd = -1;
  stream_close_fd(&s->out_fd);
}

static bool has_bytes(int fd) {
  int count = 0;
  return ioctl(fd, FIONREAD, &count) || count > 0;
}

/* Whether a connection was broken off, so that what it sent is no whole; then it ends so. */
static bool is_broken(struct stream *s) {
  int error = 0;
  socklen_t length = sizeof error;
  if (s->kind != KIND_CONNECTION || getsockopt(s->out_fd, SOL_SOCKET, SO_ERROR, &error, &length) || error == 0) return false;
  stream_fail(s, END_FAILED, STAGE_READ, (uint32_t)error);
  return true;
}

/*
 * Of a tree that is gone, what it left behind: others may have its pipe open, or its terminal, and write for ever. How much a
 * terminal still has on its way cannot be asked; it is less than this.
 */
static uint32_t rest_of(struct stream *s, bool err, int fd) {
  int count = 0;
  if (!s->measured[err]) {
    s->rest[err] = s->has_terminal || ioctl(fd, FIONREAD, &count) ? 128 * 1024 : (uint32_t)count;
    s->measured[err] = true;
  }
  return s->rest[err];
}

/* Takes one slice of what a stream writes. */
static void pump_output(struct stream *s, bool err, bool hung) {
  int fd = err ? s->err_fd : s->out_fd;
  uint32_t size = credit_of(s);
  ssize_t length;
  if (fd < 0 || !room_for_data() || (s->due & DUE_STARTED) || (s->kind == KIND_PROGRAM && !s->started)) return;
  if (size == 0) {
    if (!hung && !s->gone && !s->done) return;
    if (is_broken(s)) return;
    if (!has_bytes(fd)) output_ended(s, err);
    else if (err) s->err_hung = true;
    else s->out_hung = true;
    return;
  }
  if (size > SLICE_BYTES) size = SLICE_BYTES;
  if (s->gone && rest_of(s, err, fd) < size) size = s->rest[err];
  if (size == 0) {
    output_ended(s, err);
    return;
  }
  length = read(fd, data_frame_begin(), size);
  if (length > 0) {
    data_frame_end(err ? F_ERROR_OUTPUT : F_OUTPUT, s->number, (size_t)length);
    stream_count_sent(s, (uint32_t)length);
    if (s->measured[err]) s->rest[err] -= (uint32_t)length;
    return;
  }
  /* Of a tree that is gone the pipe may be held elsewhere: what is in it now is all. */
  if (length < 0 && (errno == EINTR || (errno == EAGAIN && !s->gone))) return;
  if (length < 0 && s->kind == KIND_CONNECTION) stream_fail(s, END_FAILED, STAGE_READ, (uint32_t)errno);
  else output_ended(s, err);
}

static int add(struct pollfd *fds, int count, int stream, uint8_t use, int fd, short events) {
  fds[count] = (struct pollfd){.fd = fd, .events = events};
  watched[count] = (struct watched){.stream = (uint16_t)stream, .use = use};
  return count + 1;
}


int streams_poll_add(void *poll_fds) {
  struct pollfd *fds = poll_fds;
  int count = 0;
  bool room = room_for_data();
  for (int i = 0; i < top; i++) {
    struct stream *s = &streams[i];
    bool credit;
    if (s->kind == KIND_FREE) continue;
    credit = credit_of(s) > 0;
    if (s->status_fd >= 0) count = add(fds, count, i, USE_STATUS, s->status_fd, POLLIN);
    if (s->connecting || (input_waits(s) && input_target(s) >= 0)) count = add(fds, count, i, USE_IN, s->connecting ? s->in_fd : input_target(s), POLLOUT);
    if (!room || s->connecting || (s->kind == KIND_PROGRAM && !s->started)) continue;
    if (s->kind == KIND_LISTENER && !stream_may_accept()) continue;
    if (s->out_fd >= 0 && (credit || !s->out_hung)) count = add(fds, count, i, USE_OUT, s->out_fd, credit ? POLLIN : 0);
    if (s->err_fd >= 0 && (credit || !s->err_hung)) count = add(fds, count, i, USE_ERR, s->err_fd, credit ? POLLIN : 0);
  }
  return count;
}

static void use_result(struct stream *s, uint8_t use, short events) {
  bool hung = (events & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  if (use == USE_STATUS) spawn_report(s);
  else if (use == USE_IN && s->connecting) connection_opened(s);
  else if (use == USE_IN) pump_input(s);
  else if (s->kind == KIND_LISTENER) listener_accept(s);
  else if (s->kind == KIND_DATAGRAMS) datagram_receive(s);
  else pump_output(s, use == USE_ERR, hung);
}

/* One slice for each ready descriptor, another stream first in each round. */
void streams_poll_result(const void *poll_fds, int count) {
  const struct pollfd *fds = poll_fds;
  if (count == 0) return;
  turn = (turn + 1) % count;
  for (int k = 0; k < count; k++) {
    int i = (turn + k) % count;
    if (fds[i].revents) use_result(&streams[watched[i].stream], watched[i].use, fds[i].revents);
  }
}

static void give_back(struct stream *s) {
  uint32_t bytes = s->taken;
  if (bytes == 0) return;
  send_frame(F_CREDIT, s->number, &bytes, sizeof bytes, NULL, 0);
  s->taken = 0;
  input_held -= bytes;
}

static void send_due(struct stream *s) {
  if (s->due & DUE_STARTED) {
    uint32_t pid = (uint32_t)s->program;
    send_frame(F_STARTED, s->number, &pid, sizeof pid, NULL, 0);
  }
  if (s->due & DUE_OPENED) send_frame(F_OPENED, s->number, &s->port, sizeof s->port, NULL, 0);
  for (uint8_t channel = 1; channel <= 2; channel++) {
    if ((s->kind != KIND_PROGRAM || s->started) && s->due & (channel == 1 ? DUE_OUTPUT_END : DUE_ERROR_END)) send_frame(F_OUTPUT_END, s->number, &channel, 1, NULL, 0);
  }
  if (s->due & DUE_EXIT) {
    struct frame_exit frame = {.code = s->exit_code, .signal = s->exit_signal, .user_us = s->user_us, .system_us = s->system_us, .max_resident_kb = s->max_resident_kb};
    send_frame(F_EXIT, s->number, &frame, sizeof frame, NULL, 0);
  }
  s->due &= DUE_LEFT;
}

/* Whether nothing of the stream is left, so that ENDED may be said. */
static bool is_over(const struct stream *s) {
  bool silent = s->out_fd < 0 && s->err_fd < 0;
  switch (s->kind) {
    case KIND_PROGRAM:
      if (s->pid != 0 || (s->lost && s->ending != NOT_ENDING)) return false;
      return s->rejected ? !s->started || s->gone : s->gone && silent;
    case KIND_FILE:
      if (s->pid != 0) return false;
      return s->rejected || (s->done && silent);
    case KIND_CONNECTION:
      return s->rejected || (s->open && s->out_fd < 0 && s->shut_in);
    default:
      return s->rejected;
  }
}

static void end_stream(struct stream *s) {
  struct frame_ended frame = {.reason = s->end, .stage = s->stage, .error = s->error, .first = s->first, .second = s->second};
  stream_close_input(s);
  stream_close_output(s);
  stream_close_fd(&s->terminal_fd);
  stream_close_fd(&s->status_fd);
  if (s->job) file_forget(s);
  send_frame(F_ENDED, s->number, &frame, sizeof frame, NULL, 0);
  input_held -= s->taken;
  ended_held += s->outstanding;
  s->kind = KIND_FREE;
  live_count--;
  if (s->number >= FIRST_OWN_STREAM) accepted_count--;
  while (top > 0 && streams[top - 1].kind == KIND_FREE) top--;
}

void streams_events(void) {
  uint64_t now = now_ms();
  for (int i = 0; i < top; i++) {
    struct stream *s = &streams[i];
    if (s->kind == KIND_FREE) continue;
    if (s->deadline && now >= s->deadline) {
      s->deadline = 0;
      if (s->kind == KIND_FILE) file_stop(s, END_DEADLINE);
      else stream_fail(s, END_DEADLINE, 0, 0);
    } else if (s->deadline) {
      wake_by(s->deadline);
    }
    if (!room_for_events()) {
      wake_by(now + 10);
      continue;
    }
    if ((s->gone || s->done) && s->out_fd >= 0) pump_output(s, false, false);
    if ((s->gone || s->done) && s->err_fd >= 0) pump_output(s, true, false);
    if (s->due & ~DUE_LEFT) send_due(s);
    give_back(s);
    if (is_over(s)) end_stream(s);
    else if (s->gone && stream_may_send(s, 1) && (s->out_fd >= 0 || s->err_fd >= 0)) wake_by(now);
  }
}
