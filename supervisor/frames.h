/* Generated from frames.json by scripts/write-supervisor-frames.ts. */
#ifndef FRAMES_H
#define FRAMES_H
#include <stdint.h>

#define PROTOCOL_VERSION 1
#define MAX_PAYLOAD_BYTES 65524u
#define HEADER_BYTES 12u
#define MAX_STREAMS 256u
#define MAX_ACCEPTED 64u
#define FIRST_OWN_STREAM 2147483648u
#define INPUT_WINDOW_BYTES 65536u
#define INPUT_TOTAL_BYTES 262144u
#define MAX_OUTPUT_WINDOW_BYTES 16777216u
#define SLICE_BYTES 16384u
#define MAX_STRINGS_BYTES 2097152u
#define MAX_FILTER_BYTES 32768u
#define MAX_DATAGRAM_BYTES 4096u
#define MAX_QUESTION_BYTES 512u
#define MAX_QUESTIONS 64u
#define MAX_PATH_BYTES 4095u
#define MAX_LEFT 256u
#define MAX_TROUBLE_BYTES 512u
#define MAX_START_BYTES 49152u

enum frame_type {
  F_SETUP = 1,
  F_PING = 2,
  F_CREDIT = 3,
  F_SPAWN = 4,
  F_RELEASE = 5,
  F_INPUT = 6,
  F_INPUT_END = 7,
  F_RESIZE = 8,
  F_SIGNAL = 9,
  F_END_TREE = 10,
  F_ASK_LEFT = 11,
  F_DIAL = 12,
  F_LISTEN = 13,
  F_DATAGRAM = 14,
  F_CLOSE = 15,
  F_FILE = 16,
  F_NUMBERS = 17,
  F_HELLO = 64,
  F_PONG = 65,
  F_STARTED = 66,
  F_OUTPUT = 67,
  F_ERROR_OUTPUT = 68,
  F_OUTPUT_END = 69,
  F_EXIT = 70,
  F_ENDED = 71,
  F_LEFT = 72,
  F_OPENED = 73,
  F_ACCEPTED = 74,
  F_STATS = 75,
  F_TROUBLE = 76,
  F_VARIABLES = 77,
  F_MOUNTS = 78,
};

#define SETUP_VARIABLES 1
#define SETUP_MOUNTS 2

#define SPAWN_INPUT 1
#define SPAWN_TERMINAL 2
#define SPAWN_HELD 4
#define SPAWN_SETUP 8

#define FACT_OPENAT2 1
#define FACT_CLOSE_RANGE 2
#define FACT_PIDFD 4
#define FACT_SUBREAPER 8
#define FACT_TAGS 16
#define FACT_MEMORY_GROUP 32
#define FACT_TERMINALS 64
#define FACT_FILTER 128
#define FACT_PROCESS_LIMIT 256

#define END_DONE 0
#define END_FAILED 1
#define END_LOST 2
#define END_DEADLINE 3
#define END_CLOSED 4
#define END_REFUSED 5

#define STAGE_STREAMS 1
#define STAGE_STRINGS 2
#define STAGE_PIPES 3
#define STAGE_FORK 4
#define STAGE_TERMINAL 5
#define STAGE_USER 6
#define STAGE_FILTER 7
#define STAGE_FOLDER 8
#define STAGE_PROGRAM 9
#define STAGE_PATH 10
#define STAGE_OPEN 11
#define STAGE_READ 12
#define STAGE_WRITE 13
#define STAGE_CONNECT 14
#define STAGE_BIND 15
#define STAGE_ARCHIVE 16
#define STAGE_ENTRIES 17
#define STAGE_HELPER 18
#define STAGE_LIMIT 19

#define FILE_LOOK 1
#define FILE_LIST 2
#define FILE_READ 3
#define FILE_WRITE 4
#define FILE_MAKE 5
#define FILE_MOVE 6
#define FILE_REMOVE 7
#define FILE_CHMOD 8
#define FILE_PACK 9
#define FILE_UNPACK 10

#define WITH_PARENTS 1
#define WITH_TREE 2
#define WITH_EXCLUSIVE 4
#define WITH_APPEND 8
#define WITH_FOLLOW 16
#define WITH_MODE 32
#define WITH_REPLACE 64

#define CODE_ASKED 0
#define CODE_NONSENSE 64
#define CODE_SILENCE 65
#define CODE_CUT 66
#define CODE_STUCK 67
#define CODE_FLOOD 68
#define CODE_BROKEN 70
#define CODE_PLACE 71

struct __attribute__((packed)) frame_setup {
  uint32_t version;
  uint32_t own_user;
  uint32_t own_group;
  uint32_t first_tag;
  uint32_t tag_count;
  uint32_t silence_ms;
  uint32_t stream_window;
  uint32_t total_window;
  uint32_t probe1;
  uint32_t probe2;
  uint32_t probe3;
  uint32_t probe_user;
  uint32_t probe_group;
  uint32_t flags;
  uint32_t processes;
  uint32_t open_files;
  uint32_t signals;
  uint32_t queue_bytes;
  uint32_t locked_bytes;
  uint64_t file_bytes;
};
_Static_assert(sizeof(struct frame_setup) == 84, "SETUP");
#define SETUP_BYTES 84u
#define SETUP_TAIL 1

struct __attribute__((packed)) frame_ping {
  uint64_t nonce;
};
_Static_assert(sizeof(struct frame_ping) == 8, "PING");
#define PING_BYTES 8u
#define PING_TAIL 0

struct __attribute__((packed)) frame_credit {
  uint32_t bytes;
};
_Static_assert(sizeof(struct frame_credit) == 4, "CREDIT");
#define CREDIT_BYTES 4u
#define CREDIT_TAIL 0

struct __attribute__((packed)) frame_spawn {
  uint32_t user;
  uint32_t group;
  uint32_t flags;
  uint16_t rows;
  uint16_t columns;
  uint16_t argument_count;
  uint16_t variable_count;
  uint32_t strings_bytes;
};
_Static_assert(sizeof(struct frame_spawn) == 24, "SPAWN");
#define SPAWN_BYTES 24u
#define SPAWN_TAIL 0

#define RELEASE_BYTES 0u
#define RELEASE_TAIL 0

#define INPUT_BYTES 0u
#define INPUT_TAIL 1

#define INPUT_END_BYTES 0u
#define INPUT_END_TAIL 0

struct __attribute__((packed)) frame_resize {
  uint16_t rows;
  uint16_t columns;
};
_Static_assert(sizeof(struct frame_resize) == 4, "RESIZE");
#define RESIZE_BYTES 4u
#define RESIZE_TAIL 0

struct __attribute__((packed)) frame_signal {
  uint8_t signal;
  uint8_t scope;
};
_Static_assert(sizeof(struct frame_signal) == 2, "SIGNAL");
#define SIGNAL_BYTES 2u
#define SIGNAL_TAIL 0

struct __attribute__((packed)) frame_end_tree {
  uint32_t grace_ms;
};
_Static_assert(sizeof(struct frame_end_tree) == 4, "END_TREE");
#define END_TREE_BYTES 4u
#define END_TREE_TAIL 0

#define ASK_LEFT_BYTES 0u
#define ASK_LEFT_TAIL 0

struct __attribute__((packed)) frame_dial {
  uint16_t port;
  uint8_t family;
  uint8_t zero;
  uint32_t deadline_ms;
};
_Static_assert(sizeof(struct frame_dial) == 8, "DIAL");
#define DIAL_BYTES 8u
#define DIAL_TAIL 1

struct __attribute__((packed)) frame_listen {
  uint16_t port;
  uint8_t family;
  uint8_t kind;
};
_Static_assert(sizeof(struct frame_listen) == 4, "LISTEN");
#define LISTEN_BYTES 4u
#define LISTEN_TAIL 0

struct __attribute__((packed)) frame_datagram {
  uint16_t port;
};
_Static_assert(sizeof(struct frame_datagram) == 2, "DATAGRAM");
#define DATAGRAM_BYTES 2u
#define DATAGRAM_TAIL 1

#define CLOSE_BYTES 0u
#define CLOSE_TAIL 0

struct __attribute__((packed)) frame_file {
  uint8_t verb;
  uint8_t flags;
  uint16_t folder_bytes;
  uint16_t path_bytes;
  uint16_t other_bytes;
  uint32_t user;
  uint32_t group;
  uint32_t mode;
  uint32_t deadline_ms;
  uint32_t max_entries;
  uint64_t offset;
  uint64_t max_bytes;
};
_Static_assert(sizeof(struct frame_file) == 44, "FILE");
#define FILE_BYTES 44u
#define FILE_TAIL 1

struct __attribute__((packed)) frame_numbers {
  uint32_t interval_ms;
};
_Static_assert(sizeof(struct frame_numbers) == 4, "NUMBERS");
#define NUMBERS_BYTES 4u
#define NUMBERS_TAIL 0

struct __attribute__((packed)) frame_hello {
  uint32_t version;
  uint8_t mode;
  uint8_t cgroup;
  uint8_t architecture;
  uint8_t zero;
  uint32_t facts;
  uint32_t user;
  uint32_t group;
  uint64_t capabilities;
  uint32_t descriptors;
  uint32_t processors;
  uint32_t probe1;
  uint32_t probe2;
  uint32_t probe3;
  uint64_t probe_capabilities;
};
_Static_assert(sizeof(struct frame_hello) == 56, "HELLO");
#define HELLO_BYTES 56u
#define HELLO_TAIL 1

struct __attribute__((packed)) frame_pong {
  uint64_t nonce;
};
_Static_assert(sizeof(struct frame_pong) == 8, "PONG");
#define PONG_BYTES 8u
#define PONG_TAIL 0

struct __attribute__((packed)) frame_started {
  uint32_t pid;
};
_Static_assert(sizeof(struct frame_started) == 4, "STARTED");
#define STARTED_BYTES 4u
#define STARTED_TAIL 0

#define OUTPUT_BYTES 0u
#define OUTPUT_TAIL 1

#define ERROR_OUTPUT_BYTES 0u
#define ERROR_OUTPUT_TAIL 1

struct __attribute__((packed)) frame_output_end {
  uint8_t channel;
};
_Static_assert(sizeof(struct frame_output_end) == 1, "OUTPUT_END");
#define OUTPUT_END_BYTES 1u
#define OUTPUT_END_TAIL 0

struct __attribute__((packed)) frame_exit {
  uint8_t code;
  uint8_t signal;
  uint16_t zero;
  uint64_t user_us;
  uint64_t system_us;
  uint64_t max_resident_kb;
};
_Static_assert(sizeof(struct frame_exit) == 28, "EXIT");
#define EXIT_BYTES 28u
#define EXIT_TAIL 0

struct __attribute__((packed)) frame_ended {
  uint8_t reason;
  uint8_t stage;
  uint16_t zero;
  uint32_t error;
  uint64_t first;
  uint64_t second;
};
_Static_assert(sizeof(struct frame_ended) == 24, "ENDED");
#define ENDED_BYTES 24u
#define ENDED_TAIL 0

struct __attribute__((packed)) frame_left {
  uint32_t count;
};
_Static_assert(sizeof(struct frame_left) == 4, "LEFT");
#define LEFT_BYTES 4u
#define LEFT_TAIL 1

struct __attribute__((packed)) frame_opened {
  uint16_t port;
};
_Static_assert(sizeof(struct frame_opened) == 2, "OPENED");
#define OPENED_BYTES 2u
#define OPENED_TAIL 0

struct __attribute__((packed)) frame_accepted {
  uint32_t listener;
  uint16_t port;
};
_Static_assert(sizeof(struct frame_accepted) == 6, "ACCEPTED");
#define ACCEPTED_BYTES 6u
#define ACCEPTED_TAIL 0

struct __attribute__((packed)) frame_stats {
  uint64_t memory_bytes;
  uint64_t memory_peak_bytes;
  uint64_t memory_limit_bytes;
  uint64_t memory_kills;
  uint64_t cpu_us;
  uint64_t disk_read_bytes;
  uint64_t disk_write_bytes;
  uint64_t processes;
  uint64_t process_limit;
  uint64_t memory_cache_bytes;
  uint64_t scratch_bytes;
  uint64_t monotonic_us;
};
_Static_assert(sizeof(struct frame_stats) == 96, "STATS");
#define STATS_BYTES 96u
#define STATS_TAIL 1

struct __attribute__((packed)) frame_trouble {
  uint8_t code;
};
_Static_assert(sizeof(struct frame_trouble) == 1, "TROUBLE");
#define TROUBLE_BYTES 1u
#define TROUBLE_TAIL 1

struct __attribute__((packed)) frame_variables {
  uint32_t bytes;
};
_Static_assert(sizeof(struct frame_variables) == 4, "VARIABLES");
#define VARIABLES_BYTES 4u
#define VARIABLES_TAIL 1

struct __attribute__((packed)) frame_mounts {
  uint32_t bytes;
};
_Static_assert(sizeof(struct frame_mounts) == 4, "MOUNTS");
#define MOUNTS_BYTES 4u
#define MOUNTS_TAIL 1

#endif
