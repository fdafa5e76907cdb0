/*
 * Numbers of the control group and of each tree, and what no control group counts.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "supervisor.h"

#define UNKNOWN UINT64_MAX
/* NUMBERS with this interval ends what is pushed. */
#define NO_MORE UINT32_MAX

static uint32_t interval; /* 0: nothing is pushed */
static bool asked;
static uint64_t next_at = UINT64_MAX;

static uint64_t read_number(const char *path) {
  char text[64];
  const char *at = text;
  uint64_t value;
  return read_text(path, text, sizeof text) && take_number(&at, &value) ? value : UNKNOWN; /* "max" is unknown too */
}

/* The number after a word at the beginning of a line. */
static uint64_t read_field(const char *path, const char *word) {
  char text[2048];
  const char *line = text;
  size_t length = strlen(word);
  uint64_t value;
  if (!read_text(path, text, sizeof text)) return UNKNOWN;
  while (line) {
    const char *at = line + length;
    if (strncmp(line, word, length) == 0 && *at == ' ' && take_number(&at, &value)) return value;
    line = strchr(line, '\n');
    if (line) line++;
  }
  return UNKNOWN;
}

#define V2 "/sys/fs/cgroup/"
#define V1 "/sys/fs/cgroup/memory/"

uint8_t cgroup_version(void) {
  static uint8_t version = 3;
  if (version != 3) return version;
  version = 0;
  if (read_number(V2 "memory.current") != UNKNOWN) version = 2;
  else if (read_number(V1 "memory.usage_in_bytes") != UNKNOWN) version = 1;
  return version;
}

bool cgroup_kills_groups(void) { return cgroup_version() == 2 && read_number(V2 "memory.oom.group") == 1; }

/* The sum of the numbers behind a word in all lines, such as one for each device; a word ends as it is given, by its " " or "=". */
static uint64_t read_sum(const char *path, const char *word) {
  char text[4096];
  const char *at = text;
  uint64_t value, sum = 0;
  if (!read_text(path, text, sizeof text)) return UNKNOWN;
  while ((at = strstr(at, word))) {
    at += strlen(word);
    if (take_number(&at, &value)) sum += value;
  }
  return sum;
}

#define MAX_MOUNTS_BYTES 65536
#define MAX_SCRATCH 32

/* Whether a line of /proc/self/mounts names a file system in memory that programs may write to; ends the path with a NUL. */
static bool is_scratch(char *line, const char **path) {
  static const char *const others[] = {"/dev", "/proc", "/sys"};
  char *at = strchr(line, ' '), *type = at ? strchr(at + 1, ' ') : NULL;
  if (!type || strncmp(type, " tmpfs rw", 9)) return false;
  *type = 0;
  *path = at + 1;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    size_t length = strlen(others[i]);
    if (!strncmp(*path, others[i], length) && ((*path)[length] == 0 || (*path)[length] == '/')) return false;
  }
  return true;
}

/* What lies in the file systems in memory, each counted once wherever it is mounted; unknown where there is none. */
static uint64_t scratch_bytes(void) {
  static char text[MAX_MOUNTS_BYTES];
  dev_t seen[MAX_SCRATCH];
  size_t count = 0;
  uint64_t sum = 0;
  if (!read_whole("/proc/self/mounts", text, sizeof text)) return UNKNOWN;
  for (char *line = text, *next; line && *line; line = next) {
    const char *path;
    struct stat st;
    struct statfs use;
    size_t i = 0;
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    if (!is_scratch(line, &path) || stat(path, &st) || statfs(path, &use) || use.f_type != TMPFS_MAGIC) continue;
    while (i < count && seen[i] != st.st_dev) i++;
    if (i < count || count == MAX_SCRATCH) continue;
    seen[count++] = st.st_dev;
    sum += (uint64_t)(use.f_blocks - use.f_bfree) * (uint64_t)use.f_bsize;
  }
  return count > 0 ? sum : UNKNOWN;
}

static void read_version_2(struct frame_stats *stats) {
  stats->memory_bytes = read_number(V2 "memory.current");
  stats->memory_peak_bytes = read_number(V2 "memory.peak");
  stats->memory_limit_bytes = read_number(V2 "memory.max");
  stats->memory_kills = read_field(V2 "memory.events", "oom_kill");
  stats->memory_cache_bytes = read_field(V2 "memory.stat", "file");
  stats->cpu_us = read_field(V2 "cpu.stat", "usage_usec");
  stats->disk_read_bytes = read_sum(V2 "io.stat", "rbytes=");
  stats->disk_write_bytes = read_sum(V2 "io.stat", "wbytes=");
  stats->processes = read_number(V2 "pids.current");
  stats->process_limit = read_number(V2 "pids.max");
}

static void read_version_1(struct frame_stats *stats) {
  stats->memory_bytes = read_number(V1 "memory.usage_in_bytes");
  stats->memory_peak_bytes = read_number(V1 "memory.max_usage_in_bytes");
  stats->memory_limit_bytes = read_number(V1 "memory.limit_in_bytes");
  stats->memory_kills = read_field(V1 "memory.oom_control", "oom_kill");
  stats->memory_cache_bytes = read_field(V1 "memory.stat", "cache");
  stats->cpu_us = read_number(V2 "cpuacct/cpuacct.usage");
  if (stats->cpu_us == UNKNOWN) stats->cpu_us = read_number(V2 "cpu,cpuacct/cpuacct.usage");
  if (stats->cpu_us != UNKNOWN) stats->cpu_us /= 1000;
  stats->disk_read_bytes = read_sum(V2 "blkio/blkio.throttle.io_service_bytes", " Read ");
  stats->disk_write_bytes = read_sum(V2 "blkio/blkio.throttle.io_service_bytes", " Write ");
  stats->processes = read_number(V2 "pids/pids.current");
  stats->process_limit = read_number(V2 "pids/pids.max");
}

void numbers_ask(uint32_t interval_ms) {
  if (interval_ms != 0 && interval_ms != NO_MORE && (interval_ms < 100 || interval_ms > 60000)) nonsense("NUMBERS' interval is out of range");
  if (interval_ms != 0) {
    interval = interval_ms == NO_MORE ? 0 : interval_ms;
    next_at = interval ? now_ms() + interval : UINT64_MAX;
  }
  asked |= interval_ms != NO_MORE;
}

static void push(void) {
  static struct {
    uint32_t stream, processes;
    uint64_t cpu_ms, resident_kb;
  } __attribute__((packed)) records[MAX_STREAMS];
  static uint32_t counts[MAX_STREAMS];
  static uint64_t cpu_ms[MAX_STREAMS], resident_kb[MAX_STREAMS];
  struct frame_stats stats;
  uint64_t all;
  size_t length = 0;
  memset(&stats, 0xff, sizeof stats);
  memset(counts, 0, sizeof counts);
  memset(cpu_ms, 0, sizeof cpu_ms);
  memset(resident_kb, 0, sizeof resident_kb);
  if (cgroup_version() == 2) read_version_2(&stats);
  else if (cgroup_version() == 1) read_version_1(&stats);
  stats.scratch_bytes = scratch_bytes();
  trees_count(counts, cpu_ms, resident_kb, &all);
  if (stats.processes == UNKNOWN) stats.processes = all;
  stats.monotonic_us = now_us();
  for (int i = 0; i < (int)MAX_STREAMS; i++) {
    if (streams[i].kind != KIND_PROGRAM) continue;
    records[length].stream = streams[i].number;
    records[length].processes = counts[i];
    records[length].cpu_ms = cpu_ms[i];
    records[length++].resident_kb = resident_kb[i];
  }
  send_frame(F_STATS, 0, &stats, sizeof stats, records, length * sizeof records[0]);
}

void numbers_push(void) {
  uint64_t now = now_ms();
  if (asked || now >= next_at) {
    if (!room_for_events()) {
      wake_by(now + 10);
      return;
    }
    push();
    if (now >= next_at) next_at = now + interval;
    asked = false;
  }
  wake_by(next_at);
}

/* Netlink sockets of all programs: libraries have one for a moment, to list the network's devices. */
#define MAX_NETLINK 512
#define NETLINK_EVERY_MS 1000

static bool any_program(void) {
  for (int i = 0; i < (int)MAX_STREAMS; i++) {
    if (streams[i].kind == KIND_PROGRAM) return true;
  }
  return false;
}

static int netlink_sockets(void) {
  char text[4096];
  int lines = 0, fd = open("/proc/net/netlink", O_RDONLY | O_CLOEXEC);
  ssize_t length = 0;
  if (fd < 0) return 0;
  while (lines <= MAX_NETLINK && (length = read(fd, text, sizeof text)) > 0) {
    for (ssize_t i = 0; i < length; i++) lines += text[i] == '\n';
  }
  close(fd);
  return lines - 1; /* a heading */
}

/*
 * Ends the sandbox with very many netlink sockets, as only a program has that fills their queues: the kernel's answers wait there,
 * and no group counts them.
 */
void netlink_look(void) {
  static uint64_t next_at;
  uint64_t now = now_ms();
  if (!any_program()) return;
  if (now >= next_at) {
    if (netlink_sockets() > MAX_NETLINK) trouble(CODE_FLOOD, "programs have very many netlink sockets");
    next_at = now + NETLINK_EVERY_MS;
  }
  wake_by(next_at);
}

/* Where a cluster gives each container a file on the node's disk that everybody may write to. It reads no more than 4 KiB of it. */
#define LAST_WORDS "/dev/termination-log"
#define MAX_LAST_WORDS 65536
#define LAST_WORDS_EVERY_MS 250

/* Ends the sandbox whose programs fill that file: nothing else bounds how much of the disk they take. */
void last_words_look(void) {
  static uint64_t next_at;
  uint64_t now = now_ms();
  struct stat file;
  if (next_at == UINT64_MAX || !any_program()) return;
  if (now >= next_at) {
    next_at = now + LAST_WORDS_EVERY_MS;
    if (stat(LAST_WORDS, &file)) next_at = UINT64_MAX; /* nobody can make one later: there is none */
    else if (file.st_size > MAX_LAST_WORDS || file.st_blocks > MAX_LAST_WORDS / 512) trouble(CODE_FLOOD, "programs have filled the file for their last words");
  }
  if (next_at != UINT64_MAX) wake_by(next_at);
}
