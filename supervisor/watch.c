/*
 * Tells what changes in a folder, or in all below it: a letter, the path relative to the folder, a NUL. S: it watches; C: made,
 * W: written, D: removed, N: renamed away, M: mode or attributes changed. A byte of input is answered by "=" once everything that
 * happened before is told; the end of the input is its end.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "tools.h"

#define MAX_WATCHED 1024
#define MAX_LEVELS 64
#define WATCHED_EVENTS (IN_CREATE | IN_MODIFY | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR | IN_DONT_FOLLOW)

/* Folders that are watched, the first one that was named; a number of 0 is a free place. */
static struct {
  int number;
  uint16_t parent, level;
  char name[256];
} watched[MAX_WATCHED];

static int notify_fd = -1;
static bool whole; /* with all that is below */
static uint32_t placed; /* the move that puts a written file in its place */
static bool placed_new;

static int find_watched(int number) {
  for (int i = 0; i < MAX_WATCHED; i++) {
    if (number > 0 && watched[i].number == number) return i;
  }
  return -1;
}

/* The path of a name in a watched folder, from where it began; 0: it would be too long. */
static size_t path_of(int folder, const char *name, char path[MAX_PATH_BYTES + 1]) {
  uint16_t above[MAX_LEVELS + 1];
  size_t count = 0, length = 0;
  for (int at = folder; at > 0; at = watched[at].parent) above[count++] = (uint16_t)at;
  while (count > 0) {
    const char *part = watched[above[--count]].name;
    if (length + strlen(part) + 1 > MAX_PATH_BYTES) return 0;
    length = (size_t)(put_text(put_text(path + length, part), "/") - path);
  }
  if (length + strlen(name) > MAX_PATH_BYTES) return 0;
  return (size_t)(put_text(path + length, name) - path);
}

static void tell(char what, int folder, const char *name) {
  char path[MAX_PATH_BYTES + 1];
  size_t length = path_of(folder, name, path);
  if (length == 0) return;
  tool_put(&what, 1);
  tool_put(path, length + 1);
}

static void forget_watched(int at) {
  inotify_rm_watch(notify_fd, watched[at].number);
  watched[at].number = 0;
  for (int i = 1; i < MAX_WATCHED; i++) {
    if (watched[i].number && watched[i].parent == at) forget_watched(i);
  }
}

static void forget_named(int parent, const char *name) {
  for (int i = 1; i < MAX_WATCHED; i++) {
    if (watched[i].number && watched[i].parent == parent && !strcmp(watched[i].name, name)) forget_watched(i);
  }
}

/* A file that is being written, which has its name when it is whole; see fresh_name in files.c. */
static bool is_fresh(const char *name) { return !strncmp(name, FRESH_NAME, sizeof FRESH_NAME - 1); }

/* The kernel calls a file that has no name "#" and its number; what really has such a name is there. */
static bool is_nameless(int folder, const char *name) {
  char path[MAX_PATH_BYTES + 1];
  return *name == '#' && path_of(folder, name, path) > 0 && access(path, F_OK) && errno == ENOENT;
}

static int watch_below(int at, bool announce);

/* Watches a folder in a watched one, and what is below it; one that has gone meanwhile is no error. */
static int watch_folder(int parent, const char *name, bool announce) {
  char path[MAX_PATH_BYTES + 1];
  int at = 1, number, known;
  if (watched[parent].level + 1 >= MAX_LEVELS || strlen(name) >= sizeof watched[0].name) return TOOL_FULL;
  if (path_of(parent, name, path) == 0) return TOOL_FULL;
  number = inotify_add_watch(notify_fd, path, WATCHED_EVENTS);
  if (number < 0) return errno == ENOSPC || errno == ENOMEM ? TOOL_FULL : 0;
  known = find_watched(number);
  if (known >= 0) return 0;
  while (at < MAX_WATCHED && watched[at].number) at++;
  if (at == MAX_WATCHED) return TOOL_FULL;
  watched[at].number = number;
  watched[at].parent = (uint16_t)parent;
  watched[at].level = (uint16_t)(watched[parent].level + 1);
  put_text(watched[at].name, name);
  return watch_below(at, announce);
}

/* Watches the folders in a watched one; of a new one everything is told that is there already. */
static int watch_below(int at, bool announce) {
  struct folder folder = {0};
  char path[MAX_PATH_BYTES + 1];
  const char *name;
  int result = 0;
  if (path_of(at, ".", path) == 0) return TOOL_FULL;
  folder.fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder.fd < 0) return 0;
  while (result == 0 && (name = next_name(&folder))) {
    struct stat st;
    if (is_fresh(name) || fstatat(folder.fd, name, &st, AT_SYMLINK_NOFOLLOW)) continue;
    if (announce) tell('C', at, name);
    if (announce && S_ISREG(st.st_mode) && st.st_size > 0) tell('W', at, name);
    if (S_ISDIR(st.st_mode)) result = watch_folder(at, name, announce);
  }
  close(folder.fd);
  return result;
}

static int take(const struct inotify_event *event) {
  int at = find_watched(event->wd);
  const char *name = event->len ? event->name : "";
  bool folder = (event->mask & IN_ISDIR) != 0;
  if (event->mask & IN_Q_OVERFLOW) return TOOL_LATE;
  if (at < 0) return 0;
  if (event->mask & IN_IGNORED) {
    watched[at].number = 0;
    return 0;
  }
  if (*name == 0) return 0; /* of the folder itself: its own parent is told */
  if (is_fresh(name)) {
    placed = event->mask & IN_MOVED_FROM ? event->cookie : 0;
    placed_new = !strncmp(name, FRESH_NAME FRESH_NEW, sizeof(FRESH_NAME FRESH_NEW) - 1);
    return 0;
  }
  if (event->mask & (IN_MODIFY | IN_ATTRIB) && is_nameless(at, name)) return 0;
  if (event->mask & IN_MOVED_TO && placed && event->cookie == placed) {
    /* The same as a program tells that writes it where it is. */
    if (placed_new) tell('C', at, name);
    if (placed_new) tell('M', at, name);
    tell('W', at, name);
    return 0;
  }
  if (event->mask & (IN_CREATE | IN_MOVED_TO)) tell('C', at, name);
  if (event->mask & IN_MODIFY) tell('W', at, name);
  if (event->mask & IN_ATTRIB) tell('M', at, name);
  if (event->mask & IN_DELETE) tell('D', at, name);
  if (event->mask & IN_MOVED_FROM) {
    tell('N', at, name);
    if (folder) forget_named(at, name);
  }
  if (whole && folder && event->mask & (IN_CREATE | IN_MOVED_TO)) return watch_folder(at, name, true);
  return 0;
}

/* Tells all that has happened. */
static int take_all(void) {
  static char events[65536] __attribute__((aligned(8)));
  int result = 0;
  for (;;) {
    ssize_t length = read(notify_fd, events, sizeof events);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EAGAIN) return result;
    if (length <= 0) return TOOL_FAILED;
    for (const char *at = events; at < events + length;) {
      const struct inotify_event *event = (const struct inotify_event *)at;
      result = take(event);
      if (result) return result;
      at += sizeof *event + event->len;
    }
  }
}

int watch(const char *path, bool recursive) {
  struct pollfd fds[2] = {{.events = POLLIN}, {.events = POLLIN}};
  struct stat st;
  int result;
  if (stat(path, &st)) return tool_why(errno);
  if (!S_ISDIR(st.st_mode)) return TOOL_NO_FOLDER;
  if (chdir(path)) return tool_why(errno);
  notify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (notify_fd < 0) return errno == EMFILE ? TOOL_FULL : tool_why(errno);
  watched[0].number = inotify_add_watch(notify_fd, ".", WATCHED_EVENTS);
  if (watched[0].number < 0) return tool_why(errno);
  whole = recursive;
  result = recursive ? watch_below(0, false) : 0;
  if (result == 0) tool_put("S", 2);
  fds[0].fd = notify_fd;
  while (result == 0 && watched[0].number) {
    char asked;
    result = tool_flush();
    fds[1].revents = 0;
    if (result || (poll(fds, 2, -1) < 0 && errno != EINTR)) return TOOL_FAILED;
    result = take_all();
    if (result || !fds[1].revents) continue;
    if (read(0, &asked, 1) != 1) break;
    tool_put("=", 2);
  }
  return tool_flush() ? TOOL_FAILED : result;
}
