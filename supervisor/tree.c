/*
 * What is alive in /proc, whose it is, and the exact end of a tree.
 *
 * A process belongs to the tree of the warden that its line of parents leads to; where the kernel knows no subreaper, to the
 * tree whose group it carries, which it can neither drop nor choose. What leads to pid 1 past every warden is a rogue.
 * Nothing is decided by what a program can choose: names, parents it pretends, the state of its first thread.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include "supervisor.h"

#define MAX_PROCESSES 32768
/* A tree that is still there after so long cannot be ended. */
#define STUCK_MS 10000
/* Trees whose warden has gone are looked at when a child of pid 1 ends, and so often besides. */
#define LOOK_MS 1000
/* Passes after which what is killed is taken for a comet. */
#define COMET_PASSES 3
/* A comet whose number wraps around in the middle of a look is where the look has already been; it cannot do so twice in a row. */
#define EMPTY_LOOKS 2

bool rogues_possible;

static struct process processes[MAX_PROCESSES];
static int process_count;

/* /proc/PID/file, or /proc/PID/task/NAME/stat. */
static void proc_path(char path[96], pid_t pid, const char *file, const char *task) {
  char *at = put_number(put_text(path, "/proc/"), (uint64_t)pid);
  at = put_text(at, file);
  if (task) put_text(put_text(at, task), "/stat");
}

/* The state and parent of a task; the name before them may contain anything, also ") R 1". */
static bool read_stat(const char *path, char *state, int *parent, char name[16]) {
  char text[512], *start, *end;
  const char *at;
  uint64_t number;
  if (!read_text(path, text, sizeof text)) return false;
  end = strrchr(text, ')');
  start = strchr(text, '(');
  if (!end || !start || end[1] != ' ' || !end[2]) return false;
  *state = end[2];
  at = end + 3;
  if (!take_number(&at, &number)) return false;
  *parent = (int)number;
  if (name) {
    memset(name, 0, 16);
    memcpy(name, start + 1, (size_t)(end - start - 1) < 15 ? (size_t)(end - start - 1) : 15);
  }
  return true;
}

static bool is_dead(char state) { return state == 'Z' || state == 'X' || state == 'x'; }

/* How many threads a process has, by its own line: gVisor has no folder of threads when the first one has ended. */
static bool has_threads(pid_t pid) {
  char path[96], text[512];
  const char *at;
  uint64_t number = 0;
  proc_path(path, pid, "/stat", NULL);
  if (!read_text(path, text, sizeof text) || !(at = strrchr(text, ')')) || at[1] != ' ' || !at[2]) return false;
  at += 3; /* behind the state: the parent is the 4th field, the number of threads the 20th */
  for (int field = 4; field <= 20; field++) {
    while (*at == ' ' || *at == '-') at++;
    if (!take_number(&at, &number)) return false;
  }
  return number > 1;
}

/* Whether a process whose first thread has ended has another one. */
static bool has_living_thread(pid_t pid) {
  static struct folder tasks;
  char path[96], state;
  const char *name;
  bool found = false, told = false;
  int parent;
  proc_path(path, pid, "/task", NULL);
  tasks.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  tasks.length = tasks.at = 0;
  if (tasks.fd < 0) return has_threads(pid);
  while (!found && (name = next_name(&tasks))) {
    if (strlen(name) > 20) continue;
    told = true;
    proc_path(path, pid, "/task/", name);
    found = read_stat(path, &state, &parent, NULL) && !is_dead(state);
  }
  close(tasks.fd);
  /* gVisor opens the folder of a process whose first thread has ended, and tells nothing of it. */
  return told ? found : has_threads(pid);
}

static bool look_at(pid_t pid, struct process *p, char name[16]) {
  char path[96], state;
  int parent;
  proc_path(path, pid, "/stat", NULL);
  if (!read_stat(path, &state, &parent, name)) return false;
  *p = (struct process){.pid = pid, .parent = parent, .owner = OWNER_UNKNOWN, .alive = !is_dead(state) || has_living_thread(pid)};
  return true;
}

bool process_is_alive(pid_t pid) {
  struct process p;
  return pid > 0 && look_at(pid, &p, NULL) && p.alive;
}

/* The stream whose group the process carries. */
static int tag_owner(pid_t pid) {
  char path[96], text[4096];
  const char *at = NULL;
  uint64_t group;
  proc_path(path, pid, "/status", NULL);
  if (!read_text(path, text, sizeof text)) return OWNER_UNKNOWN;
  /* The name comes first, and on gVisor it may have newlines: the last such line is the kernel's. */
  for (const char *next = text; (next = strstr(next, "\nGroups:")); at = next) next += 8;
  if (!at) return OWNER_UNKNOWN;
  while (take_number(&at, &group)) {
    if (group >= settings.first_tag && group - settings.first_tag < MAX_STREAMS) {
      int index = (int)(group - settings.first_tag);
      return streams[index].kind == KIND_PROGRAM ? index : OWNER_ROGUE;
    }
  }
  return OWNER_UNKNOWN;
}

static struct process *find(pid_t pid) {
  int low = 0, high = process_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (processes[middle].pid < pid) low = middle + 1;
    else high = middle;
  }
  return low < process_count && processes[low].pid == pid ? &processes[low] : NULL;
}

/* A warden's stream; OWNER_OURS for helpers and pid 1; OWNER_UNKNOWN for everything else. */
static int stream_of_warden(pid_t pid) {
  if (pid == 1 || (pid > 0 && pid == file_spare())) return OWNER_OURS;
  for (int i = 0; i < (int)MAX_STREAMS; i++) {
    if (streams[i].kind == KIND_FREE || streams[i].pid != pid || pid == 0) continue;
    return streams[i].kind == KIND_PROGRAM ? i : OWNER_OURS;
  }
  return OWNER_UNKNOWN;
}

/* Whose process it is; unknown while its parent has just gone (it then has another parent at the next look). */
static int owner_of(struct process *p) {
  struct process *at = p;
  int owner = OWNER_UNKNOWN;
  if (stream_of_warden(p->pid) != OWNER_UNKNOWN) return OWNER_OURS;
  if (settings.tags && (owner = tag_owner(p->pid)) != OWNER_UNKNOWN) return owner;
  for (int steps = 0; at && steps < MAX_PROCESSES; steps++) {
    if (at->owner != OWNER_UNKNOWN && at->owner != OWNER_OURS) return at->owner;
    owner = stream_of_warden(at->parent);
    if (owner >= 0) return owner;
    if (owner == OWNER_OURS) return OWNER_ROGUE;
    at = find(at->parent);
  }
  return OWNER_UNKNOWN;
}

static int by_pid(const void *a, const void *b) {
  int32_t x = ((const struct process *)a)->pid, y = ((const struct process *)b)->pid;
  return (x > y) - (x < y);
}

/* A process whose parent went while we looked has another one now, or is gone itself. */
static void ask_again(struct process *p) {
  for (int tries = 0; p->alive && p->owner == OWNER_UNKNOWN && tries < 3; tries++) {
    struct process again;
    if (!look_at(p->pid, &again, NULL)) {
      p->alive = false;
      return;
    }
    *p = again;
    p->owner = (int16_t)owner_of(p);
  }
}

/* Reads the whole table of processes. */
static void look_at_all(void) {
  static struct folder proc;
  const char *name;
  bool sorted = true;
  process_count = 0;
  proc.fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  proc.length = proc.at = 0;
  if (proc.fd < 0) trouble(CODE_BROKEN, "/proc cannot be read");
  while ((name = next_name(&proc)) && process_count < MAX_PROCESSES) {
    uint64_t pid;
    if (!take_number(&name, &pid) || pid <= 1 || !look_at((pid_t)pid, &processes[process_count], NULL)) continue;
    if (process_count > 0 && processes[process_count - 1].pid > (pid_t)pid) sorted = false;
    process_count++;
  }
  close(proc.fd);
  if (!sorted) qsort(processes, (size_t)process_count, sizeof processes[0], by_pid);
  for (int i = 0; i < process_count; i++) processes[i].owner = (int16_t)owner_of(&processes[i]);
  for (int i = 0; i < process_count; i++) ask_again(&processes[i]);
}

static void signal_tree(int owner, int signal) {
  for (int i = 0; i < process_count; i++) {
    if (processes[i].owner == owner && processes[i].alive) kill(processes[i].pid, signal);
  }
}

static int index_of(const struct stream *s) { return (int)(s - streams); }

void tree_signal(const struct stream *s, int signal, bool whole) {
  struct process p;
  if (whole) {
    look_at_all();
    signal_tree(index_of(s), signal);
    return;
  }
  /* Its parent is the warden as long as it is that process and no later one of its number. */
  if (s->exited || !s->started || !look_at(s->program, &p, NULL) || p.parent != s->pid || !p.alive) return;
  kill(s->program, signal);
}

void tree_end(struct stream *s, uint32_t grace_ms) {
  uint64_t now = now_ms();
  if (s->ending == NOT_ENDING) {
    s->ending = ASKED_TO_END;
    s->end_at = now + grace_ms;
    if (grace_ms > 0) tree_signal(s, SIGTERM, true);
  } else if (s->ending == ASKED_TO_END && now + grace_ms < s->end_at) {
    s->end_at = now + grace_ms;
  }
  wake_by(s->end_at);
}

bool trees_are_ending(void) {
  for (int i = 0; i < (int)MAX_STREAMS; i++) {
    if (streams[i].kind == KIND_PROGRAM && streams[i].ending != NOT_ENDING) return true;
  }
  return false;
}

/* The warden is gone and said nothing is left below it; where there is no subreaper that has to be looked at. */
static bool waits_for_look(const struct stream *s) { return s->kind == KIND_PROGRAM && s->pid == 0 && !s->gone && (settings.tags || s->lost); }

/* A comet is another process at every moment: what was started while we looked is looked at at once, newest first. */
static void chase(const bool wanted[MAX_STREAMS], bool rogues) {
  char text[128];
  const char *last;
  pid_t largest = process_count > 0 ? processes[process_count - 1].pid : 1;
  for (int round = 0; round < 64; round++) {
    uint64_t told = 0;
    pid_t newest;
    if (read_text("/proc/loadavg", text, sizeof text) && (last = strrchr(text, ' '))) take_number(&last, &told);
    newest = told > 1 ? (pid_t)told : largest; /* gVisor does not say */
    for (pid_t pid = newest + 2; pid > newest - 6 && pid > 1; pid--) {
      struct process p;
      int owner;
      if (!look_at(pid, &p, NULL) || !p.alive) continue;
      owner = owner_of(&p);
      if (owner >= 0 ? wanted[owner] : rogues && owner == OWNER_ROGUE) kill(pid, SIGKILL);
    }
  }
}

/* A step towards the end of every tree that ends: first everything is stopped, then killed until nothing is found. */
void trees_pass(void) {
  static uint64_t next_look;
  static bool wanted[MAX_STREAMS];
  static int rogue_passes, killing_passes;
  uint64_t now = now_ms();
  bool killing = false, looking = rogues_possible, found[MAX_STREAMS] = {false}, rogue_found = false, unknown_found = false, again = false;
  for (int i = 0; i < (int)MAX_STREAMS; i++) {
    struct stream *s = &streams[i];
    wanted[i] = false;
    if (s->kind != KIND_PROGRAM) continue;
    if (s->ending == ASKED_TO_END) {
      if (now >= s->end_at) {
        s->ending = STOPPING;
        s->stuck_at = now + STUCK_MS;
        /* Before anything is stopped: under gVisor a group with a stopped member gets SIGHUP when another member ends, and that would be the program's end. */
        tree_signal(s, SIGKILL, false);
      } else {
        wake_by(s->end_at);
      }
    }
    if (s->gone && !s->lost) s->ending = NOT_ENDING;
    wanted[i] = s->ending == STOPPING || s->ending == KILLING;
    killing |= wanted[i];
    looking |= waits_for_look(s) && now >= next_look;
    if (waits_for_look(s)) wake_by(next_look > now ? next_look : now + LOOK_MS);
  }
  killing_passes = killing ? killing_passes + 1 : 0;
  if (!killing && !looking) return;
  next_look = now + LOOK_MS;
  look_at_all();
  for (int i = 0; i < process_count; i++) {
    struct process *p = &processes[i];
    if (!p->alive) continue;
    unknown_found |= p->owner == OWNER_UNKNOWN;
    rogue_found |= p->owner == OWNER_ROGUE;
    if (p->owner == OWNER_ROGUE) kill(p->pid, SIGKILL);
    if (p->owner < 0) continue;
    found[p->owner] = true;
    if (wanted[p->owner]) kill(p->pid, streams[p->owner].ending == STOPPING ? SIGSTOP : SIGKILL);
  }
  if (killing_passes > COMET_PASSES || rogue_passes > COMET_PASSES) chase(wanted, rogue_found);
  rogue_passes = rogue_found ? rogue_passes + 1 : 0;
  if (rogue_passes > 10000) trouble(CODE_STUCK, "processes without a warden cannot be ended");
  for (int i = 0; i < (int)MAX_STREAMS; i++) {
    struct stream *s = &streams[i];
    if (s->kind != KIND_PROGRAM) continue;
    if (s->ending == STOPPING) s->ending = KILLING;
    if (waits_for_look(s)) {
      const bool empty = !found[i] && !unknown_found && !(s->lost && rogue_found);
      s->empty_looks = empty ? s->empty_looks + 1 : 0;
      s->gone = s->empty_looks >= EMPTY_LOOKS;
      if (s->gone) s->ending = NOT_ENDING;
      again |= empty && !s->gone;
    }
    if (wanted[i] && !s->gone && now >= s->stuck_at) trouble(CODE_STUCK, "a tree cannot be ended");
  }
  rogues_possible = rogue_found || again || (looking && unknown_found);
  /* What was killed needs a moment to die, and its warden one to say so. */
  wake_by(now_ms() + (killing || rogues_possible ? 1 : LOOK_MS));
}

/* Living processes of one tree beside its program, or of all trees (NULL); the first MAX_LEFT as records. */
uint32_t tree_left(const struct stream *s, uint8_t *records, uint32_t *written) {
  uint32_t count = 0;
  *written = 0;
  look_at_all();
  for (int i = 0; i < process_count; i++) {
    struct process *p = &processes[i];
    struct process again;
    char name[16];
    if (!p->alive || p->owner == OWNER_OURS) continue;
    if (s && (p->owner != index_of(s) || (p->pid == s->program && !s->exited))) continue;
    if (count >= MAX_LEFT) {
      count++;
      continue;
    }
    if (!look_at(p->pid, &again, name)) continue; /* gone since then */
    count++;
    memcpy(records, &p->pid, 4);
    memcpy(records + 4, &p->parent, 4);
    memcpy(records + 8, name, 16);
    records += 24;
    *written += 24;
  }
  return count;
}

/* Processes, CPU time and resident memory of each tree that are alive now. */
void trees_count(uint32_t counts[MAX_STREAMS], uint64_t cpu_ms[MAX_STREAMS], uint64_t resident_kb[MAX_STREAMS], uint64_t *all) {
  const uint64_t tick_ms = 1000 / (uint64_t)sysconf(_SC_CLK_TCK), page_kb = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
  *all = 1;
  look_at_all();
  for (int i = 0; i < process_count; i++) {
    struct process *p = &processes[i];
    char path[96], text[512];
    const char *at;
    uint64_t fields[22] = {0};
    *all += p->alive;
    if (p->owner < 0 || !p->alive) continue;
    counts[p->owner]++;
    proc_path(path, p->pid, "/stat", NULL);
    if (!read_text(path, text, sizeof text) || !(at = strrchr(text, ')'))) continue;
    at += 3; /* behind the state: the parent is the first */
    for (int field = 0; field < 21; field++) {
      while (*at == ' ' || *at == '-') at++;
      if (!take_number(&at, &fields[field])) break;
    }
    const uint64_t user = fields[10], system = fields[11], resident = fields[20];
    cpu_ms[p->owner] += (user + system) * tick_ms;
    resident_kb[p->owner] += resident * page_kb;
  }
}
