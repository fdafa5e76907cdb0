/*
 * What a helper does as the programs' user: everything beneath one folder, by handles that are held. No link is followed on the
 * way or at its end, so that nothing that a program exchanges meanwhile leads out.
 */
#include "files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_renameat2
#error "renameat2 has no number"
#endif

#define RESOLVE_NO_MAGICLINKS 0x02
#define RESOLVE_NO_SYMLINKS 0x04
#define RESOLVE_BENEATH 0x08

static struct job own; /* a copy, which nobody changes meanwhile */
static const struct job *const job = &own;
static const struct job *shared; /* with pid 1 */
static int base = -1;
static uint64_t bytes_done;
static uint32_t entries_done;
static uint8_t out[65536];
static size_t out_length;

static void report(struct report r) {
  if (write(2, &r, sizeof r) != (ssize_t)sizeof r) _exit(1);
  _exit(0);
}

static void flush(void) {
  for (size_t at = 0; at < out_length;) {
    ssize_t length = write(1, out + at, out_length - at);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) _exit(1);
    at += (size_t)length;
  }
  out_length = 0;
}

/* A new file that has no place yet; where it has a name already it goes when the operation fails. */
static struct {
  int fd, folder;
  char name[64];
  bool is_named;
  bool is_new; /* it replaces nothing, as far as is known */
} fresh = {.fd = -1};

void file_fail(uint8_t stage, int error) {
  if (fresh.is_named) unlinkat(fresh.folder, fresh.name, 0);
  report((struct report){.what = REPORT_FAILED, .stage = stage, .error = (uint32_t)error, .first = bytes_done, .second = entries_done});
  _exit(1);
}

/* The end, once all output has come; with a stage it failed all the same. */
void file_end(uint8_t stage, int error) {
  flush();
  report((struct report){.what = REPORT_DONE, .stage = stage, .error = (uint32_t)error, .first = bytes_done, .second = entries_done});
  _exit(1);
}

void file_done(void) { file_end(0, 0); }

void file_write(const void *bytes, size_t length) {
  const uint8_t *from = bytes;
  while (length > 0) {
    size_t part = sizeof out - out_length < length ? sizeof out - out_length : length;
    memcpy(out + out_length, from, part);
    out_length += part;
    from += part;
    length -= part;
    if (out_length == sizeof out) flush();
  }
}

/* Whether the end of the pipe is the end of INPUT, and not that of everything else. */
static bool input_is_whole(void) { return atomic_load(&shared->input_is_whole); }

/* Reads exactly so many bytes of INPUT; false at its end before the first of them. */
bool file_read(void *bytes, size_t length) {
  for (size_t at = 0; at < length;) {
    ssize_t got = read(0, (uint8_t *)bytes + at, length - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) file_fail(STAGE_READ, errno);
    if (got == 0 && !input_is_whole()) file_fail(STAGE_READ, ECANCELED);
    if (got == 0 && at == 0) return false;
    if (got == 0) file_fail(STAGE_ARCHIVE, EPIPE);
    at += (size_t)got;
  }
  return true;
}

/* Throws away what is left of INPUT, so that nothing is left waiting. */
void file_drain(void) {
  uint8_t bytes[4096];
  for (;;) {
    ssize_t got = read(0, bytes, sizeof bytes);
    if (got == 0 || (got < 0 && errno != EINTR)) return;
  }
}

void count_entry(void) {
  if (entries_done >= job->frame.max_entries) file_fail(STAGE_ENTRIES, EFBIG);
  entries_done++;
}

void count_bytes(uint64_t bytes) {
  if (bytes > job->frame.max_bytes - bytes_done) file_fail(STAGE_ENTRIES, EFBIG);
  bytes_done += bytes;
}

/* One component after the other, each opened without following a link. */
static int walk(int folder, const char *path, int how) {
  int at = fcntl(folder, F_DUPFD_CLOEXEC, 3);
  while (at >= 0) {
    char name[256];
    size_t length = strcspn(path, "/");
    bool last = path[length] == 0;
    int next, error;
    errno = ENAMETOOLONG;
    next = -1;
    if (length < sizeof name) {
      memcpy(name, path, length);
      name[length] = 0;
      next = openat(at, name, (last ? how : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC);
    }
    error = errno;
    close(at);
    errno = error;
    if (last) return next;
    at = next;
    path += length + 1;
  }
  return -1;
}

/* Opens what is beneath a folder; an empty path is the folder. */
int open_beneath(int folder, const char *path, int how) {
  struct {
    uint64_t flags, mode, resolve;
  } rules = {(uint64_t)(how | O_NOFOLLOW | O_CLOEXEC), 0, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS};
  if (*path == 0) return openat(folder, ".", how | O_CLOEXEC);
  if (!(settings.facts & FACT_OPENAT2)) return walk(folder, path, how);
  for (int tries = 0; tries < 100; tries++) {
    int fd = (int)syscall(SYS_openat2, folder, path, &rules, sizeof rules);
    if (fd >= 0 || errno != EAGAIN) return fd; /* a rename on the way: again */
  }
  return -1;
}

static int make_folder(int parent, const char *name, mode_t mode) {
  if (mkdirat(parent, name, mode)) return -1;
  return 0;
}

/* Opens a folder; what stands in its way goes, and where it is missing it is made. */
int clear_folder(int parent, const char *name, mode_t mode) {
  for (int tries = 0; tries < 5; tries++) {
    int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) return fd;
    if (errno == ENOENT && (mkdirat(parent, name, mode) == 0 || errno == EEXIST)) continue;
    if ((errno != ENOTDIR && errno != ELOOP) || (unlinkat(parent, name, 0) && errno != ENOENT)) return -1;
  }
  return -1;
}

/* Opens the folder that holds the last component, making those that are missing if asked to. */
int open_parent(int folder, const char *path, bool make, const char **name) {
  char above[MAX_PATH_BYTES + 1];
  const char *slash = strrchr(path, '/');
  int fd, at;
  *name = slash ? slash + 1 : path;
  if (!slash) return fcntl(folder, F_DUPFD_CLOEXEC, 3);
  memcpy(above, path, (size_t)(slash - path));
  above[slash - path] = 0;
  fd = open_beneath(folder, above, O_PATH | O_DIRECTORY);
  if (fd >= 0 || errno != ENOENT || !make) return fd;
  at = fcntl(folder, F_DUPFD_CLOEXEC, 3);
  for (char *part = above; at >= 0 && *part;) {
    size_t length = strcspn(part, "/");
    bool last = part[length] == 0;
    part[length] = 0;
    if (make_folder(at, part, 0755) && errno != EEXIST) return -1;
    fd = openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(at);
    at = fd;
    part += length + (last ? 0 : 1);
  }
  return at;
}

/* The parent of the job's path, or the end of the job. */
static int need_parent(const char *path, bool make, const char **name) {
  int fd;
  if (*path == 0) file_fail(STAGE_PATH, EINVAL);
  fd = open_parent(base, path, make, name);
  if (fd < 0) file_fail(STAGE_PATH, errno);
  return fd;
}

/* The same for a file that is to be read or written, which the folder itself is not. */
static int need_file(bool make, const char **name) {
  if (*job->path == 0) file_fail(STAGE_OPEN, EISDIR);
  return need_parent(job->path, make, name);
}

static char kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG: return 'f';
    case S_IFDIR: return 'd';
    case S_IFLNK: return 'l';
    case S_IFIFO: return 'p';
    case S_IFSOCK: return 's';
    case S_IFCHR: return 'c';
    default: return 'b';
  }
}

struct __attribute__((packed)) entry {
  uint32_t length;
  uint8_t kind, closed;
  uint16_t name_bytes, target_bytes, zero2;
  uint32_t mode, links, user, group, nanoseconds;
  uint64_t size, inode, modified;
};

static void put_record(const char *name, const char *target, size_t target_bytes, const struct stat *st, bool closed) {
  struct entry entry = {
      .kind = (uint8_t)kind_of(st->st_mode), .closed = closed, .name_bytes = (uint16_t)strlen(name), .target_bytes = (uint16_t)target_bytes,
      .mode = st->st_mode & 07777, .links = (uint32_t)st->st_nlink, .user = st->st_uid, .group = st->st_gid,
      .nanoseconds = (uint32_t)st->st_mtim.tv_nsec, .size = (uint64_t)st->st_size, .inode = st->st_ino, .modified = (uint64_t)st->st_mtim.tv_sec,
  };
  entry.length = (uint32_t)(sizeof entry - sizeof entry.length + entry.name_bytes + entry.target_bytes);
  file_write(&entry, sizeof entry);
  file_write(name, entry.name_bytes);
  file_write(target, target_bytes);
}

/* Writes the record of one entry, called `shown`; false when it is gone. */
static bool put_entry(int parent, const char *name, const char *shown, const struct stat *st, bool closed) {
  char target[MAX_PATH_BYTES + 1];
  ssize_t target_bytes = 0;
  if (S_ISLNK(st->st_mode)) target_bytes = readlinkat(parent, name, target, sizeof target);
  if (target_bytes < 0) return false;
  put_record(shown, target, (size_t)target_bytes, st, closed);
  return true;
}

static void look(void) {
  const char *name = ".";
  int parent = *job->path ? need_parent(job->path, false, &name) : base;
  struct stat st;
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) || !put_entry(parent, name, name, &st, false)) file_fail(STAGE_PATH, errno);
  entries_done = 1;
}

/* The name of what is being listed, relative to where it began. */
static char listed[MAX_PATH_BYTES + 1];

/*
 * Lists a folder, whose own name takes so many bytes of `listed`, and what is below it: so many levels, or with 0 all that is of
 * the same file system.
 */
static void list_folder(int fd, size_t length, uint64_t levels, int depth) {
  struct folder folder = {.fd = fd};
  struct stat top, st;
  const char *name;
  bool deeper = levels != 1;
  if (fstat(fd, &top)) return;
  while ((name = next_name(&folder))) {
    size_t bytes = strlen(name);
    int below = -1;
    bool closed = false, put;
    if (length + bytes > MAX_PATH_BYTES || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW)) continue;
    if (entries_done >= job->frame.max_entries) file_end(STAGE_ENTRIES, EFBIG);
    memcpy(listed + length, name, bytes + 1);
    if (deeper && S_ISDIR(st.st_mode)) {
      below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      closed = below < 0 || faccessat(below, ".", X_OK, 0) || depth + 1 >= MAX_DEPTH;
    }
    put = put_entry(fd, name, listed, &st, closed);
    if (put) entries_done++;
    if (put && below >= 0 && !closed && length + bytes < MAX_PATH_BYTES && (levels > 0 || st.st_dev == top.st_dev)) {
      listed[length + bytes] = '/';
      list_folder(below, length + bytes + 1, levels > 0 ? levels - 1 : 0, depth + 1);
    }
    if (below >= 0) close(below);
  }
  if (folder.length < 0 && depth == 0) file_fail(STAGE_READ, errno);
}

static void list(void) {
  int fd = open_beneath(base, job->path, O_RDONLY | O_DIRECTORY);
  if (fd < 0) file_fail(STAGE_OPEN, errno);
  list_folder(fd, 0, job->frame.flags & WITH_TREE ? job->frame.offset : 1, 0);
}

static int why_no_file(mode_t mode) { return S_ISDIR(mode) ? EISDIR : S_ISLNK(mode) ? ELOOP : EINVAL; }

/* Opens a regular file and nothing else; a FIFO or device is not even opened, unless it is exchanged in this moment. */
static int open_regular(int parent, const char *name, int how) {
  struct stat st;
  int fd;
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW)) return -1;
  errno = why_no_file(st.st_mode);
  if (!S_ISREG(st.st_mode)) return -1;
  fd = openat(parent, name, how | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode))) return fd;
  close(fd);
  errno = EINVAL;
  return -1;
}

/* The record of the file, then its bytes: no more than it had when it was opened. */
static void read_file(void) {
  static uint8_t bytes[65536];
  const char *name;
  struct stat st;
  int parent = need_file(false, &name), fd = open_regular(parent, name, O_RDONLY);
  uint64_t offset = job->frame.offset, left = 0;
  if (fd < 0 || fstat(fd, &st)) file_fail(STAGE_OPEN, errno);
  put_record("", "", 0, &st, false);
  if ((uint64_t)st.st_size > offset) left = (uint64_t)st.st_size - offset;
  if (left > job->frame.max_bytes) left = job->frame.max_bytes;
  if (left > 0 && lseek(fd, (off_t)offset, SEEK_SET) < 0) file_fail(STAGE_READ, errno);
  while (left > 0) {
    ssize_t length = read(fd, bytes, left < sizeof bytes ? (size_t)left : sizeof bytes);
    if (length < 0) file_fail(STAGE_READ, errno);
    if (length == 0) break;
    file_write(bytes, (size_t)length);
    bytes_done += (uint64_t)length;
    left -= (uint64_t)length;
  }
  entries_done = 1;
}

/* Writes INPUT until its end. */
static void write_input(int fd) {
  static uint8_t bytes[65536];
  for (;;) {
    ssize_t length = read(0, bytes, sizeof bytes);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) file_fail(STAGE_READ, errno);
    if (length == 0 && !input_is_whole()) file_fail(STAGE_READ, ECANCELED);
    if (length == 0) return;
    if ((uint64_t)length > job->frame.max_bytes - bytes_done) file_fail(STAGE_ENTRIES, EFBIG);
    for (ssize_t at = 0; at < length;) {
      ssize_t part = write(fd, bytes + at, (size_t)(length - at));
      if (part < 0 && errno == EINTR) continue;
      if (part < 0) file_fail(STAGE_WRITE, errno);
      at += part;
      bytes_done += (uint64_t)part;
    }
  }
}

static int move_entry(int from, const char *name, int to, const char *other, bool exclusive) {
  if (!exclusive) return renameat(from, name, to, other);
  return (int)syscall(SYS_renameat2, from, name, to, other, 1u);
}

static char *own_path(char path[64], int fd) {
  put_number(put_text(path, "/proc/self/fd/"), (uint64_t)fd);
  return path;
}

/* Names what will be made in a folder. */
const char *fresh_name(int folder) {
  put_number(put_text(put_text(fresh.name, FRESH_NAME), fresh.is_new ? FRESH_NEW : ""), now_us() ^ (uint64_t)getpid() << 40);
  fresh.folder = folder;
  fresh.fd = -1;
  return fresh.name;
}

/* It has been made by its name, and is no file. */
void fresh_made(void) { fresh.is_named = true; }

/* A new file that has no name yet, so that nothing stays behind whatever happens; where the file system has none, one with a name. */
int fresh_file(int folder) {
  fresh_name(folder);
  fresh.fd = openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
  if (fresh.fd >= 0) return fresh.fd;
  fresh.fd = openat(folder, fresh.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  fresh.is_named = fresh.fd >= 0;
  return fresh.fd;
}

/* Puts it in its place, or ends the operation. */
void fresh_place(int parent, const char *name, bool exclusive) {
  char path[64];
  if (!fresh.is_named && linkat(AT_FDCWD, own_path(path, fresh.fd), fresh.folder, fresh.name, AT_SYMLINK_FOLLOW)) file_fail(STAGE_WRITE, errno);
  fresh.is_named = true;
  if ((fresh.fd >= 0 && close(fresh.fd)) || move_entry(fresh.folder, fresh.name, parent, name, exclusive)) file_fail(STAGE_WRITE, errno);
  fresh.is_named = false;
}

static void write_file(void) {
  bool append = (job->frame.flags & WITH_APPEND) != 0, exclusive = (job->frame.flags & WITH_EXCLUSIVE) != 0;
  const char *name;
  struct stat st;
  mode_t mode = job->frame.mode & 0777;
  int parent = need_file((job->frame.flags & WITH_PARENTS) != 0, &name), fd;
  bool exists = fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
  entries_done = 1;
  if (exists && exclusive) file_fail(STAGE_OPEN, EEXIST);
  if (exists && !S_ISREG(st.st_mode)) file_fail(STAGE_OPEN, why_no_file(st.st_mode));
  if (exists && faccessat(parent, name, W_OK, 0)) file_fail(STAGE_OPEN, errno);
  if (append && exists) {
    fd = open_regular(parent, name, O_WRONLY | O_APPEND);
    if (fd < 0) file_fail(STAGE_OPEN, errno);
    write_input(fd);
    return;
  }
  fresh.is_new = !exists;
  fd = fresh_file(parent);
  if (fd < 0) file_fail(STAGE_OPEN, errno);
  write_input(fd);
  if (exists && !(job->frame.flags & WITH_MODE)) mode = st.st_mode & 0777;
  if (fchmod(fd, mode)) file_fail(STAGE_WRITE, errno);
  fresh_place(parent, name, exclusive);
}

static void make(void) {
  bool parents = (job->frame.flags & WITH_PARENTS) != 0;
  const char *name;
  struct stat st;
  int parent = need_parent(job->path, parents, &name);
  entries_done = 1;
  if (make_folder(parent, name, job->frame.mode & 01777) == 0) return;
  if (errno == EEXIST && parents && !fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode)) return;
  file_fail(STAGE_OPEN, errno == 0 ? EEXIST : errno);
}

static void move(void) {
  const char *name, *other;
  int from = need_parent(job->path, false, &name), to = need_parent(job->other, (job->frame.flags & WITH_PARENTS) != 0, &other);
  if (move_entry(from, name, to, other, (job->frame.flags & WITH_EXCLUSIVE) != 0)) file_fail(STAGE_WRITE, errno);
  entries_done = 1;
}

/* Removes what is in a folder, then the folder; gives an errno. A program that fills it again and again makes that fail. */
uint32_t remove_entry(int parent, const char *name, int depth) {
  struct folder folder = {0};
  const char *each;
  uint32_t error = ENOTEMPTY;
  if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) {
    count_entry();
    return 0;
  }
  if (errno != EISDIR && errno != EPERM) return (uint32_t)errno;
  if (depth >= MAX_DEPTH) return ENAMETOOLONG;
  for (int tries = 0; tries < 5; tries++) {
    folder.fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder.fd < 0) return (uint32_t)errno;
    folder.length = folder.at = 0;
    error = 0;
    while ((each = next_name(&folder))) {
      error = remove_entry(folder.fd, each, depth + 1);
      if (error) break;
    }
    close(folder.fd);
    if (!error && unlinkat(parent, name, AT_REMOVEDIR)) error = (uint32_t)errno;
    if (error != ENOTEMPTY) break;
  }
  if (!error) count_entry();
  return error;
}

static void remove_path(void) {
  const char *name;
  int parent = need_parent(job->path, false, &name);
  struct stat st;
  uint32_t error = 0;
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW)) file_fail(STAGE_PATH, errno);
  if (job->frame.flags & WITH_TREE) error = remove_entry(parent, name, 0);
  else if (unlinkat(parent, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0)) error = (uint32_t)errno;
  else entries_done = 1;
  if (error) file_fail(STAGE_WRITE, (int)error);
}

static void change_mode(void) {
  char path[64];
  struct stat st;
  int fd = open_beneath(base, job->path, O_PATH);
  if (fd < 0) file_fail(STAGE_OPEN, errno);
  if (fstat(fd, &st)) file_fail(STAGE_OPEN, errno);
  if (S_ISLNK(st.st_mode)) file_fail(STAGE_OPEN, ELOOP);
  if (chmod(own_path(path, fd), job->frame.mode & 01777)) file_fail(STAGE_WRITE, errno);
  entries_done = 1;
}

static void pack_path(void) {
  const char *name;
  int folder = open_beneath(base, job->path, O_RDONLY | O_DIRECTORY), parent;
  if (folder >= 0) pack_whole(folder);
  if (errno != ENOTDIR && errno != ELOOP) file_fail(STAGE_OPEN, errno);
  parent = need_parent(job->path, false, &name);
  pack_one(parent, name);
}

static void unpack_path(void) {
  bool replace = (job->frame.flags & WITH_REPLACE) != 0;
  int folder;
  if (*job->path && job->frame.flags & (WITH_PARENTS | WITH_REPLACE)) {
    const char *name;
    int parent = need_parent(job->path, (job->frame.flags & WITH_PARENTS) != 0, &name);
    if (replace) folder = clear_folder(parent, name, 0755);
    else folder = make_folder(parent, name, 0755);
    if (folder < 0 && errno != EEXIST) file_fail(STAGE_OPEN, errno);
    if (replace) close(folder);
    close(parent);
  }
  folder = open_beneath(base, job->path, O_RDONLY | O_DIRECTORY);
  if (folder < 0) file_fail(STAGE_OPEN, errno);
  unpack(folder, replace ? base : -1, (job->frame.flags & WITH_TREE) != 0);
}

/* Makes what is missing of an absolute path, in which links are followed, and opens it. */
static int make_base(void) {
  char part[MAX_PATH_BYTES + 1], *at = part;
  int error = 0, fd;
  put_text(part, job->folder);
  while (*at) {
    char end;
    at += strspn(at, "/");
    at += strcspn(at, "/");
    end = *at;
    *at = 0;
    if (mkdir(part, 0755) == 0 || errno == EEXIST) error = 0;
    else if (!error) error = errno;
    *at = end;
  }
  fd = open(job->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT && error) errno = error;
  return fd;
}

/* Goes to what a link at the path's end leads to, as programs of this user would: what it is in is the base then. */
static void follow(void) {
  char target[MAX_PATH_BYTES + 1];
  for (int hops = 0;; hops++) {
    const char *name, *folder = ".";
    char *slash;
    int parent = *own.path ? open_parent(base, own.path, false, &name) : -1;
    ssize_t length = parent < 0 ? -1 : readlinkat(parent, name, target, sizeof target - 1);
    if (length < 0) return; /* no link; or the verb says what is wrong */
    if (hops == 40) file_fail(STAGE_PATH, ELOOP);
    target[length] = 0;
    slash = strrchr(target, '/');
    name = slash ? slash + 1 : target;
    if (*name == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
      folder = target;
      name = "";
    } else if (slash) {
      folder = slash == target ? "/" : target;
      *slash = 0;
    }
    base = openat(parent, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (base < 0) file_fail(STAGE_FOLDER, errno);
    close(parent);
    put_text(own.path, name);
  }
}

void files_run(const struct job *given) {
  static void (*const verbs[])(void) = {NULL, look, list, read_file, write_file, make, move, remove_path, change_mode, pack_path, unpack_path};
  shared = given;
  memcpy(&own, given, sizeof own);
  umask(0);
  if (!become(job->frame.user, job->frame.group, NULL, 0)) file_fail(STAGE_USER, errno);
  base = open(job->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (base < 0 && errno == ENOENT && job->frame.flags & WITH_PARENTS) base = make_base();
  if (base < 0) file_fail(STAGE_FOLDER, errno);
  if (job->frame.flags & WITH_FOLLOW) follow();
  verbs[job->frame.verb]();
  file_done();
}
