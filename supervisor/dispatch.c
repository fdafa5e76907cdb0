/*
 * What each frame of the host does. Every check of a frame's form is here or in what begins its stream; what does not fit is
 * nonsense and ends the sandbox.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "supervisor.h"

#ifndef BUILD
#define BUILD "unknown"
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define APART_CAPABILITIES ((1ull << CAP_KILL) | (1ull << CAP_SETUID) | (1ull << CAP_SETGID))

bool ending_all;

static bool pong_due, left_due; /* LEFT of all trees */
static uint64_t pong_nonce;

/* Frames that begin a stream are taken while one can be refused. */
bool dispatch_can_take(void) { return room_for_events(); }

static bool is_call_known(long number) {
  long result = syscall(number, -1, 0, 0, 0, 0, 0);
  if (result >= 0) close((int)result);
  return !(result < 0 && errno == ENOSYS);
}

static uint32_t own_facts(void) {
  uint32_t facts = 0;
  int subreaper = -1, terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  uint64_t how[3] = {O_RDONLY | O_CLOEXEC, 0, 8};
  int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), file = (int)syscall(SYS_openat2, folder, ".", how, sizeof how);
  if (file >= 0) facts |= FACT_OPENAT2;
  if (file >= 0) close(file);
  if (folder >= 0) close(folder);
  /* A first descriptor behind the last: an error that says the call is known. */
  if (syscall(SYS_close_range, 5u, 4u, 0) < 0 && errno == EINVAL) facts |= FACT_CLOSE_RANGE;
  if (is_call_known(SYS_pidfd_open)) facts |= FACT_PIDFD;
  if (terminal >= 0) facts |= FACT_TERMINALS;
  if (terminal >= 0) close(terminal);
  /* gVisor takes the order and does not follow it; asked again it does not know it. */
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && prctl(PR_GET_CHILD_SUBREAPER, &subreaper) == 0 && subreaper == 1) facts |= FACT_SUBREAPER;
  if (cgroup_kills_groups()) facts |= FACT_MEMORY_GROUP;
  return facts;
}

static void say_hello(void) {
  struct frame_hello hello = {.version = PROTOCOL_VERSION, .facts = settings.facts, .user = getuid(), .group = getgid()};
  struct rlimit limit;
  cpu_set_t processors;
  uint32_t errors[3];
  uint64_t probe_capabilities;
  bool process_limit;
  filter_probe(errors, &probe_capabilities, &process_limit);
  if (process_limit) hello.facts |= FACT_PROCESS_LIMIT;
  hello.mode = settings.apart ? 1 : 2;
  hello.cgroup = cgroup_version();
#if defined(__x86_64__)
  hello.architecture = 1;
#elif defined(__aarch64__)
  hello.architecture = 2;
#else
#error "another architecture needs a number in frames.json"
#endif
  hello.capabilities = settings.capabilities;
  hello.descriptors = getrlimit(RLIMIT_NOFILE, &limit) ? 0 : (uint32_t)limit.rlim_cur;
  hello.processors = sched_getaffinity(0, sizeof processors, &processors) ? 0 : (uint32_t)CPU_COUNT(&processors);
  hello.probe1 = errors[0];
  hello.probe2 = errors[1];
  hello.probe3 = errors[2];
  hello.probe_capabilities = probe_capabilities;
  send_frame(F_HELLO, 0, &hello, sizeof hello, BUILD, strlen(BUILD));
}

static void set_limits(const struct frame_setup *f) {
  settings.limits[0] = f->processes;
  settings.limits[1] = f->open_files;
  settings.limits[2] = f->signals;
  settings.limits[3] = f->queue_bytes;
  settings.limits[4] = f->locked_bytes;
  settings.limits[5] = f->file_bytes;
}

static void set_up(const struct frame_setup *f, const uint8_t *filter, uint32_t filter_bytes) {
  if (f->version != PROTOCOL_VERSION) nonsense("the host speaks another version");
  if (f->silence_ms < 1000 || f->silence_ms > 600000) nonsense("SETUP's silence is out of range");
  if (f->stream_window == 0 || f->stream_window > MAX_OUTPUT_WINDOW_BYTES || f->total_window == 0 || f->total_window > MAX_OUTPUT_WINDOW_BYTES) {
    nonsense("SETUP's windows are out of range");
  }
  if (f->flags & ~(uint32_t)(SETUP_VARIABLES | SETUP_MOUNTS)) nonsense("unknown SETUP flags");
  if (f->first_tag && (f->tag_count < MAX_STREAMS || f->first_tag + f->tag_count < f->first_tag)) nonsense("SETUP has too few tags");
  filter_set(filter, filter_bytes);
  settings.silence_ms = f->silence_ms;
  settings.stream_window = f->stream_window;
  settings.total_window = f->total_window;
  settings.probes[0] = f->probe1;
  settings.probes[1] = f->probe2;
  settings.probes[2] = f->probe3;
  settings.probe_user = f->probe_user;
  settings.probe_group = f->probe_group;
  settings.first_tag = f->first_tag;
  set_limits(f);
  settings.done = true;
  resolver_open(); /* while it may */
  bound_capabilities();
  if (f->own_user != UINT32_MAX) become_self(f->own_user, f->own_group);
  settings.capabilities = own_capabilities(true);
  settings.apart = (settings.capabilities & APART_CAPABILITIES) == APART_CAPABILITIES;
  settings.facts = own_facts() | (filter_bytes ? FACT_FILTER : 0);
#ifdef TEST_SWITCHES
  settings.facts &= ~missing_facts;
#endif
  settings.subreaper = (settings.facts & FACT_SUBREAPER) != 0;
  settings.tags = settings.apart && !settings.subreaper && f->first_tag != 0;
  if (settings.tags) settings.facts |= FACT_TAGS;
  if (!process_is_alive(1)) trouble(CODE_BROKEN, "/proc is missing");
  say_hello();
  tell_start(f->flags);
  file_prepare();
}

static bool listens(const struct stream *s) { return s->kind == KIND_LISTENER || s->kind == KIND_DATAGRAMS || s->kind == KIND_QUESTIONS; }

static void take_input(struct stream *s, const uint8_t *bytes, uint32_t length) {
  uint32_t strings = length < s->strings_due ? length : s->strings_due;
  s->strings_due -= strings;
  if (length > strings) {
    if (listens(s)) nonsense("INPUT of a listener");
    if (s->kind == KIND_PROGRAM && (!s->wants_input || s->held)) nonsense("INPUT that a program does not take");
    if (s->input_ended) nonsense("INPUT after INPUT_END");
  }
  stream_input(s, bytes, length);
}

static void end_input(struct stream *s) {
  if (listens(s) || s->strings_due > 0 || s->input_ended) nonsense("INPUT_END that does not fit");
  if (s->kind == KIND_PROGRAM && (!s->wants_input || s->held)) nonsense("INPUT_END that a program does not take");
  stream_input_end(s);
}

static void resize(const struct stream *s, const struct frame_resize *f) {
  struct winsize size = {.ws_row = f->rows, .ws_col = f->columns};
  if (s->kind != KIND_PROGRAM || !s->has_terminal) nonsense("RESIZE of what has no terminal");
  if (s->terminal_fd >= 0) ioctl(s->terminal_fd, TIOCSWINSZ, &size);
}

static void release(struct stream *s) {
  if (s->kind != KIND_PROGRAM || !s->held || s->release_due) nonsense("RELEASE of what is not held");
  s->held = false;
  s->release_due = true;
}

static void close_stream(struct stream *s) {
  if (s->kind == KIND_PROGRAM) {
    stream_close_input(s);
    stream_close_output(s);
    return;
  }
  if (s->kind == KIND_FILE) {
    file_stop(s, END_CLOSED);
    return;
  }
  if (s->kind == KIND_CONNECTION) connection_reset(s);
  else stream_close_output(s); /* the port is free for the next LISTEN */
  stream_fail(s, END_CLOSED, 0, 0);
}

static void end_trees(uint32_t grace_ms) {
  ending_all = true;
  for (int i = 0; i < (int)MAX_STREAMS; i++) {
    if (streams[i].kind == KIND_PROGRAM) tree_end(&streams[i], grace_ms);
    else if (streams[i].kind != KIND_FREE) close_stream(&streams[i]);
  }
}

/* Frames of stream 0. */
static void dispatch_zero(uint8_t type, const uint8_t *p, uint32_t length) {
  uint32_t first = 0;
  if (length >= 4) memcpy(&first, p, 4);
  switch (type) {
    case F_SETUP:
      if (settings.done) nonsense("a second SETUP");
      set_up((const struct frame_setup *)p, p + SETUP_BYTES, length - SETUP_BYTES);
      return;
    case F_PING:
      memcpy(&pong_nonce, p, sizeof pong_nonce);
      pong_due = true;
      return;
    case F_END_TREE:
      if (first > 60000) nonsense("END_TREE's grace is out of range");
      end_trees(first);
      return;
    case F_ASK_LEFT:
      left_due = true;
      return;
    case F_NUMBERS:
      numbers_ask(first);
      return;
    default:
      nonsense("a frame that does not fit stream 0");
  }
}

/* Frames that begin a stream; false for all others. */
static bool dispatch_new(uint8_t type, uint32_t number, const uint8_t *p, uint32_t length) {
  if (type != F_SPAWN && type != F_DIAL && type != F_LISTEN && type != F_FILE) return false;
  if (ending_all) nonsense("a new stream after the end of all");
  if (stream_refuse(number)) return true;
  if (type == F_SPAWN) spawn(number, (const struct frame_spawn *)p);
  else if (type == F_DIAL) dial(number, (const struct frame_dial *)p, length);
  else if (type == F_LISTEN) listen_on(number, (const struct frame_listen *)p);
  else file_begin(number, p, length);
  return true;
}

static void need_program(const struct stream *s, const char *text) {
  if (s->kind != KIND_PROGRAM) nonsense(text);
}

static void dispatch_live(uint8_t type, struct stream *s, const uint8_t *p, uint32_t length) {
  uint32_t first = 0;
  uint16_t port = 0;
  if (length >= 4) memcpy(&first, p, 4);
  switch (type) {
    case F_RELEASE:
      release(s);
      return;
    case F_INPUT:
      take_input(s, p, length);
      return;
    case F_INPUT_END:
      end_input(s);
      return;
    case F_RESIZE:
      resize(s, (const struct frame_resize *)p);
      return;
    case F_SIGNAL:
      need_program(s, "SIGNAL of what is no program");
      if (p[0] < 1 || p[0] > 64 || p[1] > 1) nonsense("SIGNAL out of range");
      tree_signal(s, p[0], p[1] == 1);
      return;
    case F_END_TREE:
      need_program(s, "END_TREE of what is no program");
      if (first > 60000) nonsense("END_TREE's grace is out of range");
      tree_end(s, first);
      return;
    case F_ASK_LEFT:
      need_program(s, "ASK_LEFT of what is no program");
      s->due |= DUE_LEFT;
      return;
    case F_DATAGRAM:
      if (s->kind != KIND_DATAGRAMS) nonsense("DATAGRAM of what has none");
      memcpy(&port, p, sizeof port);
      datagram_send(s, port, p + DATAGRAM_BYTES, length - DATAGRAM_BYTES);
      return;
    case F_CLOSE:
      close_stream(s);
      return;
    default:
      nonsense("a frame that does not fit a live stream");
  }
}

struct shape {
  uint8_t type, tail;
  uint32_t bytes;
};

#define SHAPE(name) {F_##name, name##_TAIL, name##_BYTES}
static const struct shape shapes[] = {
    SHAPE(SETUP), SHAPE(PING), SHAPE(CREDIT), SHAPE(SPAWN), SHAPE(RELEASE), SHAPE(INPUT), SHAPE(INPUT_END), SHAPE(RESIZE), SHAPE(SIGNAL),
    SHAPE(END_TREE), SHAPE(ASK_LEFT), SHAPE(DIAL), SHAPE(LISTEN), SHAPE(DATAGRAM), SHAPE(CLOSE), SHAPE(FILE), SHAPE(NUMBERS),
};

static void check_shape(uint8_t type, uint32_t length) {
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    const struct shape *shape = &shapes[i];
    if (shape->type != type) continue;
    if (length < shape->bytes || (length > shape->bytes && !shape->tail)) nonsense("a payload does not fit its frame");
    return;
  }
  nonsense("an unknown frame");
}

void dispatch(uint8_t type, uint32_t number, const uint8_t *payload, uint32_t length) {
  struct stream *s;
  uint32_t bytes;
  check_shape(type, length);
  if (number == 0) {
    dispatch_zero(type, payload, length);
    return;
  }
  if (dispatch_new(type, number, payload, length)) return;
  if (!stream_was_begun(number)) nonsense("a frame of a stream that was never begun");
  if (type == F_CREDIT) {
    memcpy(&bytes, payload, sizeof bytes);
    stream_credit(number, bytes);
    return;
  }
  s = stream_live(number);
  if (s) dispatch_live(type, s, payload, length);
  else if (type == F_SETUP || type == F_PING || type == F_NUMBERS) nonsense("a frame that does not fit its stream");
}

static void send_left(struct stream *s) {
  static uint8_t records[MAX_LEFT * 24];
  uint32_t bytes, count;
  if (control_room() < HEADER_BYTES + LEFT_BYTES + sizeof records) return;
  count = tree_left(s, records, &bytes);
  send_frame(F_LEFT, s ? s->number : 0, &count, sizeof count, records, bytes);
  if (s) s->due &= (uint8_t)~DUE_LEFT;
  else left_due = false;
}

/* Answers that wait for room. */
void dispatch_due(void) {
  if (pong_due && room_for_events()) {
    send_frame(F_PONG, 0, &pong_nonce, sizeof pong_nonce, NULL, 0);
    pong_due = false;
  }
  if (left_due) send_left(NULL);
  for (int i = 0; i < (int)MAX_STREAMS; i++) {
    if (streams[i].kind == KIND_PROGRAM && streams[i].due & DUE_LEFT) send_left(&streams[i]);
  }
}

/* After the events of streams: the last one to go wakes nobody. */
void dispatch_ended(void) {
  if (!ending_all) return;
  for (int i = 0; i < (int)MAX_STREAMS; i++) {
    if (streams[i].kind != KIND_FREE && !(streams[i].kind == KIND_PROGRAM && streams[i].gone)) return;
  }
  trouble(CODE_ASKED, "everything has ended, as asked");
}
