/*
 * What the files of the supervisor share. README.md says how they fit together.
 */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "frames.h"

enum kind { KIND_FREE, KIND_PROGRAM, KIND_CONNECTION, KIND_LISTENER, KIND_DATAGRAMS, KIND_QUESTIONS, KIND_FILE };

/* Frames that a stream still has to send, in the order of their sending. */
enum { DUE_STARTED = 1, DUE_OPENED = 2, DUE_OUTPUT_END = 4, DUE_ERROR_END = 8, DUE_EXIT = 16, DUE_LEFT = 32 };

/* How far the end of a tree is. */
enum ending { NOT_ENDING, ASKED_TO_END, STOPPING, KILLING };

/* What files are called that are being written; one that replaces none says so. */
#define FRESH_NAME ".glovebox-"
#define FRESH_NEW "new-"

/* What a warden or a file helper writes into its status pipe: less than PIPE_BUF, so whole or not at all. */
enum { REPORT_READY = 1, REPORT_STARTED, REPORT_FAILED, REPORT_EXIT, REPORT_GONE, REPORT_DONE };
struct report {
  uint8_t what, stage, code, signal;
  uint32_t error;
  uint32_t pid;
  uint32_t zero;
  uint64_t first, second, third;
};

struct block {
  uint16_t next; /* index + 1 */
  uint16_t start, end;
  uint8_t bytes[1024];
};

struct job;

struct stream {
  uint32_t number;
  uint8_t kind;
  uint8_t due;
  uint8_t ending;
  int in_fd, out_fd, err_fd, status_fd; /* -1: none. A connection has one socket in in_fd and out_fd. */
  int terminal_fd;                      /* takes input after the strings; also out_fd */
  pid_t pid;                            /* warden or helper; 0: reaped */
  pid_t program;
  uint32_t strings_due;  /* strings that the host has not yet sent */
  uint32_t strings_left; /* strings that have not yet gone to the warden or helper */
  uint16_t first_block, last_block;
  uint32_t queued;      /* INPUT that waits here, and counts against the window */
  uint32_t taken;       /* INPUT that went on and is not yet given back by CREDIT */
  uint32_t outstanding; /* OUTPUT without CREDIT */
  bool started, held, release_due, wants_input, input_ended, shut_in, has_terminal;
  bool connecting, open;
  bool exited, gone, lost, closed, done;
  bool measured[2];        /* of OUTPUT and ERROR_OUTPUT: how much is to come is known, */
  uint32_t rest[2];        /* and this is it: the tree is gone, and what others write there is not its */
  bool out_hung, err_hung; /* hung up with bytes that wait for credit */
  bool rejected;           /* ENDED with `end`, `stage`, `error` */
  uint8_t end, stage;
  uint8_t empty_looks; /* looks in a row that found nothing of a tree without a warden */
  uint32_t error;
  uint8_t exit_code, exit_signal;
  uint64_t user_us, system_us, max_resident_kb, first, second;
  uint64_t end_at;   /* when SIGKILL follows SIGTERM */
  uint64_t stuck_at; /* when a tree that does not end ends everything */
  uint64_t deadline; /* of a connection's begin or of a file operation; 0: none */
  struct job *job;   /* of a file operation, shared with its helper */
  uint16_t port;
  uint16_t questions; /* that it was told of */
  uint32_t listener;
};

struct process {
  int32_t pid, parent;
  int16_t owner; /* index of a stream, or one of the following */
  bool alive;
};
enum { OWNER_UNKNOWN = -1, OWNER_OURS = -2, OWNER_ROGUE = -3 };

enum { LIMITS = 6 };

struct settings {
  bool done; /* SETUP was read */
  uint16_t epoch;
  uint32_t first_tag, silence_ms, stream_window, total_window;
  uint32_t probes[3], probe_user, probe_group;
  uint64_t limits[LIMITS]; /* of each program; 0: as it is */
  uint16_t filter_length; /* instructions */
  bool apart, subreaper, tags;
  uint32_t facts;
  uint64_t capabilities;
};

extern struct settings settings;
#ifdef TEST_SWITCHES
extern uint32_t missing_facts; /* what a test says this kernel lacks; the shipped program asks the kernel alone */
#endif
extern struct stream streams[MAX_STREAMS];

/* main.c */
void tell_start(uint32_t wanted);
void trouble(uint8_t code, const char *text) __attribute__((noreturn));
void nonsense(const char *text) __attribute__((noreturn));
uint64_t now_ms(void);
uint64_t now_us(void);
extern uint64_t wake_at; /* the loop wakes then at the latest */
void wake_by(uint64_t at);

/* control.c: the control stream */
void control_read(void);
void control_take(void);
bool control_write(void); /* false: nothing was waiting */
bool control_wants_write(void);
size_t control_room(void);
void send_frame(uint8_t type, uint32_t stream, const void *fields, size_t bytes, const void *tail, size_t tail_bytes);
uint8_t *data_frame_begin(void);
void data_frame_end(uint8_t type, uint32_t stream, size_t bytes);
bool room_for_data(void);
bool room_for_events(void);

/* dispatch.c: what each frame of the host does */
void dispatch(uint8_t type, uint32_t number, const uint8_t *payload, uint32_t length);
void dispatch_due(void);
void dispatch_ended(void);
bool dispatch_can_take(void);
extern bool ending_all;

/* streams.c: the table of streams, their input, output and credit */
struct stream *stream_live(uint32_t number);
bool stream_was_begun(uint32_t number);
bool stream_refuse(uint32_t number);
struct stream *stream_begin(uint32_t number, uint8_t kind);
struct stream *stream_begin_own(uint8_t kind);
bool stream_may_accept(void);
void stream_fail(struct stream *s, uint8_t end, uint8_t stage, uint32_t error);
void stream_close_fd(int *fd);
void stream_close_input(struct stream *s);
void stream_close_output(struct stream *s);
void stream_input(struct stream *s, const uint8_t *bytes, uint32_t length);
void stream_input_end(struct stream *s);
void stream_credit(uint32_t number, uint32_t bytes);
bool stream_may_send(const struct stream *s, uint32_t bytes);
void stream_count_sent(struct stream *s, uint32_t bytes);
int streams_poll_add(void *poll_fds);
void streams_poll_result(const void *poll_fds, int count);
void streams_events(void); /* sends due frames and ends streams */

/* spawn.c: wardens and programs */
void spawn(uint32_t number, const struct frame_spawn *frame);
void spawn_report(struct stream *s);
void reap(void);

/* program.c: what a forked child does before it becomes a program */
bool become(uint32_t user, uint32_t group, const uint32_t *tag, uint64_t capabilities);
void bound_capabilities(void);
void become_self(uint32_t user, uint32_t group);
bool make_as(uint32_t user, uint32_t group);
void own_again(void);
uint64_t own_capabilities(bool effective);
void close_from(int first);
void warden(const struct frame_spawn *frame, const uint32_t *tag, const int fds[4]) __attribute__((noreturn));
extern uint64_t original_descriptors[2];

/* text.c */
struct folder {
  int fd, length, at;
  char buffer[8192] __attribute__((aligned(8)));
};
char *put_text(char *at, const char *text);
char *put_number(char *at, uint64_t value);
bool take_number(const char **at, uint64_t *value);
bool read_text(const char *path, char *text, size_t size);
bool read_whole(const char *path, char *text, size_t size);
const char *next_name(struct folder *f);

/* filter.c */
void filter_set(const uint8_t *bytes, uint32_t length);
int filter_install(void);
void filter_probe(uint32_t errors[3], uint64_t *capabilities, bool *process_limit);

/* tree.c: what is alive, whose it is, and its exact end */
void tree_end(struct stream *s, uint32_t grace_ms);
void tree_signal(const struct stream *s, int signal, bool whole);
void trees_pass(void);
bool trees_are_ending(void);
extern bool rogues_possible;
uint32_t tree_left(const struct stream *s, uint8_t *records, uint32_t *written);
void trees_count(uint32_t processes[MAX_STREAMS], uint64_t cpu_ms[MAX_STREAMS], uint64_t resident_kb[MAX_STREAMS], uint64_t *all);
bool process_is_alive(pid_t pid);

/* ports.c */
void dial(uint32_t number, const struct frame_dial *frame, uint32_t length);
void listen_on(uint32_t number, const struct frame_listen *frame);
void connection_opened(struct stream *s);
void connection_reset(const struct stream *s);
void listener_accept(struct stream *s);
void datagram_receive(struct stream *s);
void datagram_send(const struct stream *s, uint16_t port, const uint8_t *bytes, uint32_t length);
void resolver_open(void);
int resolver_descriptor(void);
void resolver_answer(void);

/* helper.c: file operations, each in a process of its own */
void file_begin(uint32_t number, const uint8_t *payload, uint32_t length);
void file_prepare(void);
void file_stop(struct stream *s, uint8_t end);
void file_input_whole(struct stream *s);
void file_forget(struct stream *s);
bool file_spare_ended(pid_t pid);
pid_t file_spare(void);

/* tools.c: what it does for programs that run it */
int tool(int count, char **arguments);

/* numbers.c */
void numbers_ask(uint32_t interval_ms);
void numbers_push(void);
void netlink_look(void);
void last_words_look(void);
uint8_t cgroup_version(void);
bool cgroup_kills_groups(void);

#endif
