/*
 * Archives: tar as everybody reads it (ustar, pax headers for what does not fit), written and read by a helper.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "files.h"

#define BLOCK 512u
#define MAX_NAME 4096u

struct header {
  char name[100], mode[8], user[8], group[8], size[12], modified[12], sum[8], type, target[100], magic[8], user_name[32], group_name[32],
      major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "header");

/* The name of what is being packed, relative to where it began. */
static char path[MAX_NAME + 2];

static void put_octal(char *field, size_t size, uint64_t value) {
  field[size - 1] = 0;
  for (size_t i = size - 1; i-- > 0; value >>= 3) field[i] = (char)('0' + (value & 7));
}

static void put_padding(uint64_t size) {
  static const char zeros[BLOCK];
  if (size % BLOCK) file_write(zeros, BLOCK - size % BLOCK);
}

static void put_header(struct header *h) {
  unsigned sum = 0;
  memcpy(h->magic, "ustar\00000", 8);
  memset(h->sum, ' ', sizeof h->sum);
  for (size_t i = 0; i < BLOCK; i++) sum += ((const unsigned char *)h)[i];
  put_octal(h->sum, 7, sum);
  h->sum[7] = ' ';
  file_write(h, BLOCK);
}

/* One "LENGTH name=value\n" of a pax header, whose length counts its own digits. */
static size_t pax_length(const char *name, size_t value) {
  size_t rest = strlen(name) + value + 3, digits = 1;
  for (size_t limit = 10; rest + digits >= limit; limit *= 10) digits++;
  return rest + digits;
}

static char *put_pax(char *at, const char *name, const char *value, size_t bytes) {
  at = put_text(put_text(put_text(put_number(at, pax_length(name, bytes)), " "), name), "=");
  memcpy(at, value, bytes);
  at[bytes] = '\n';
  return at + bytes + 1;
}

static void put_long(const char *name, const char *target, uint64_t size) {
  static char text[2 * MAX_NAME + 256];
  struct header h = {.type = 'x'};
  char number[24], *end = text;
  size_t length;
  if (strlen(name) >= sizeof h.name) end = put_pax(end, "path", name, strlen(name));
  if (target && strlen(target) >= sizeof h.target) end = put_pax(end, "linkpath", target, strlen(target));
  if (size > 077777777777ull) end = put_pax(end, "size", number, (size_t)(put_number(number, size) - number));
  length = (size_t)(end - text);
  if (length == 0) return;
  put_text(h.name, "pax");
  put_octal(h.mode, sizeof h.mode, 0600);
  put_octal(h.size, sizeof h.size, length);
  put_octal(h.modified, sizeof h.modified, 0);
  put_header(&h);
  file_write(text, length);
  put_padding(length);
}

static void put_member(char type, const char *name, const char *target, const struct stat *st, uint64_t size) {
  struct header h = {.type = type};
  put_long(name, target, size);
  memcpy(h.name, name, strnlen(name, sizeof h.name));
  if (target) memcpy(h.target, target, strnlen(target, sizeof h.target));
  put_octal(h.mode, sizeof h.mode, st->st_mode & 07777);
  put_octal(h.user, sizeof h.user, st->st_uid & 07777777);
  put_octal(h.group, sizeof h.group, st->st_gid & 07777777);
  put_octal(h.size, sizeof h.size, size & 077777777777ull);
  put_octal(h.modified, sizeof h.modified, st->st_mtim.tv_sec < 0 ? 0 : (uint64_t)st->st_mtim.tv_sec & 077777777777ull);
  put_header(&h);
}

/* The first thing that could not be packed: the rest is packed all the same, and then this is told. */
static uint8_t failed_stage;
static int failed_error;

static void note_failure(uint8_t stage, int error) {
  if (failed_stage) return;
  failed_stage = stage;
  failed_error = error;
}

/* Names of files that have more names, by device and inode, so that the others are links to the first. What has no room here is packed as a file. */
#define TWINS 16384u
#define TWIN_NAMES (2u << 20)
static struct twins {
  struct {
    dev_t device;
    ino_t inode;
    uint32_t name; /* 0: free */
  } at[TWINS];
  uint32_t end;
  char names[TWIN_NAMES];
} *twins;

/* The first name of a file; NULL: this is the first, or nothing is known. */
static const char *twin_of(const struct stat *st, const char *name) {
  size_t length = strlen(name) + 1;
  if (!twins) {
    void *place = mmap(NULL, sizeof *twins, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) return NULL;
    twins = place;
    twins->end = 1;
  }
  for (uint64_t tries = 0, slot = (st->st_ino ^ st->st_dev * 31) * 0x9e3779b97f4a7c15ull >> 32; tries < 64; tries++, slot++) {
    uint32_t at = (uint32_t)(slot % TWINS);
    if (twins->at[at].name == 0) {
      if (length > TWIN_NAMES - twins->end) return NULL;
      twins->at[at].device = st->st_dev;
      twins->at[at].inode = st->st_ino;
      twins->at[at].name = twins->end;
      memcpy(twins->names + twins->end, name, length);
      twins->end += (uint32_t)length;
      return NULL;
    }
    if (twins->at[at].device == st->st_dev && twins->at[at].inode == st->st_ino) return twins->names + twins->at[at].name;
  }
  return NULL;
}

/* A file that shrinks meanwhile is filled with zeros, one that grows is cut: the archive stays one. */
static void pack_file(int fd, const struct stat *st) {
  static uint8_t bytes[65536];
  uint64_t left = (uint64_t)st->st_size;
  count_bytes(left);
  put_member('0', path, NULL, st, left);
  while (left > 0) {
    size_t part = left < sizeof bytes ? (size_t)left : sizeof bytes;
    ssize_t length = read(fd, bytes, part);
    if (length < 0) note_failure(STAGE_READ, errno);
    if (length <= 0) memset(bytes, 0, (size_t)(length = (ssize_t)part));
    file_write(bytes, (size_t)length);
    left -= (uint64_t)length;
  }
  put_padding((uint64_t)st->st_size);
}

static void pack_entry(int parent, const char *name, size_t length, int depth);

static void pack_folder(int fd, size_t length, int depth) {
  struct folder folder = {.fd = fd};
  const char *name;
  if (depth >= MAX_DEPTH) file_fail(STAGE_ENTRIES, ENAMETOOLONG);
  while ((name = next_name(&folder))) {
    size_t bytes = strlen(name);
    if (length + bytes + 1 > MAX_NAME) file_fail(STAGE_ENTRIES, ENAMETOOLONG);
    memcpy(path + length, name, bytes + 1);
    pack_entry(fd, name, length + bytes, depth + 1);
  }
}

/* Packs what `path`, of this length, names. */
static void pack_entry(int parent, const char *name, size_t length, int depth) {
  static char target[MAX_NAME + 1];
  struct stat st;
  ssize_t bytes;
  int fd;
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW)) {
    if (errno != ENOENT) note_failure(STAGE_READ, errno); /* else gone meanwhile */
    return;
  }
  if (S_ISLNK(st.st_mode)) {
    bytes = readlinkat(parent, name, target, MAX_NAME);
    if (bytes < 0) {
      if (errno != ENOENT) note_failure(STAGE_READ, errno);
      return;
    }
    target[bytes] = 0;
    count_entry();
    put_member('2', path, target, &st, 0);
    return;
  }
  if (S_ISFIFO(st.st_mode)) {
    count_entry();
    put_member('6', path, NULL, &st, 0);
    return;
  }
  if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return;
  fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &st)) {
    if (errno != ENOENT) note_failure(STAGE_OPEN, errno);
    if (fd >= 0) close(fd);
    return;
  }
  if (S_ISREG(st.st_mode)) {
    const char *first = st.st_nlink > 1 ? twin_of(&st, path) : NULL;
    count_entry();
    if (first) put_member('1', path, first, &st, 0);
    else pack_file(fd, &st);
  } else if (S_ISDIR(st.st_mode)) {
    count_entry();
    path[length] = '/';
    path[length + 1] = 0;
    put_member('5', path, NULL, &st, 0);
    pack_folder(fd, length + 1, depth);
  }
  close(fd);
}

static _Noreturn void pack_end(void) {
  static const char end[2 * BLOCK];
  file_write(end, sizeof end);
  file_end(failed_stage, failed_error);
}

/* A folder, called "./", and what is in it by names relative to it. */
void pack_whole(int folder) {
  struct stat st;
  if (fstat(folder, &st)) file_fail(STAGE_OPEN, errno);
  put_member('5', "./", NULL, &st, 0);
  pack_folder(folder, 0, 0);
  pack_end();
}

/* A file or link alone. */
void pack_one(int parent, const char *name) {
  struct stat st;
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW)) file_fail(STAGE_OPEN, errno);
  if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) file_fail(STAGE_OPEN, EINVAL);
  put_text(path, name);
  pack_entry(parent, name, strlen(name), 0);
  pack_end();
}

/* A member that is being unpacked; what pax or GNU headers said of it comes first. */
static struct {
  char name[MAX_NAME + 1], target[MAX_NAME + 1];
  uint64_t size, modified;
  mode_t mode;
  bool has_name, has_target, has_size;
} member;

static uint64_t get_number(const char *field, size_t size) {
  uint64_t value = 0;
  if (field[0] & 0x80) {
    for (size_t i = size - 8; i < size; i++) value = value << 8 | (unsigned char)field[i];
    return value;
  }
  for (size_t i = 0; i < size && field[i]; i++) {
    if (field[i] == ' ') continue;
    if (field[i] < '0' || field[i] > '7') file_fail(STAGE_ARCHIVE, EINVAL);
    value = value << 3 | (uint64_t)(field[i] - '0');
  }
  return value;
}

static bool sum_fits(const struct header *h) {
  unsigned sum = 0;
  for (size_t i = 0; i < BLOCK; i++) sum += i >= offsetof(struct header, sum) && i < offsetof(struct header, type) ? ' ' : ((const unsigned char *)h)[i];
  return get_number(h->sum, sizeof h->sum) == sum;
}

static void skip(uint64_t size) {
  uint8_t block[BLOCK];
  for (uint64_t at = 0; at < size; at += BLOCK) {
    if (!file_read(block, BLOCK)) file_fail(STAGE_ARCHIVE, EPIPE);
  }
}

/* Reads a text of the archive whole, as a string. */
static size_t read_long(char *text, size_t room, uint64_t size) {
  uint8_t block[BLOCK];
  if (size >= room) file_fail(STAGE_ARCHIVE, ENAMETOOLONG);
  for (size_t at = 0; at < size; at += BLOCK) {
    size_t part = size - at < BLOCK ? (size_t)(size - at) : BLOCK;
    if (!file_read(block, BLOCK)) file_fail(STAGE_ARCHIVE, EPIPE);
    memcpy(text + at, block, part);
  }
  text[size] = 0;
  return (size_t)size;
}

static void keep(char *to, bool *has, const char *from, size_t length) {
  if (length > MAX_NAME || memchr(from, 0, length)) file_fail(STAGE_ARCHIVE, EINVAL);
  memcpy(to, from, length);
  to[length] = 0;
  *has = true;
}

static void read_pax(uint64_t size) {
  static char text[4 * MAX_NAME];
  size_t length = read_long(text, sizeof text, size), at = 0;
  while (at < length) {
    const char *start = text + at, *number = start, *equals, *value;
    uint64_t bytes;
    if (!take_number(&number, &bytes) || *number != ' ' || bytes > length - at || bytes < 5 || start[bytes - 1] != '\n') file_fail(STAGE_ARCHIVE, EINVAL);
    number++;
    equals = number < start + bytes ? memchr(number, '=', (size_t)(start + bytes - number)) : NULL;
    if (!equals) file_fail(STAGE_ARCHIVE, EINVAL);
    value = equals + 1;
    size_t value_bytes = (size_t)(start + bytes - 1 - value), name_bytes = (size_t)(equals - number);
    if (name_bytes == 4 && memcmp(number, "path", 4) == 0) keep(member.name, &member.has_name, value, value_bytes);
    if (name_bytes == 8 && memcmp(number, "linkpath", 8) == 0) keep(member.target, &member.has_target, value, value_bytes);
    if (name_bytes == 4 && memcmp(number, "size", 4) == 0) {
      member.has_size = take_number(&value, &member.size) && value == start + bytes - 1;
      if (!member.has_size) file_fail(STAGE_ARCHIVE, EINVAL);
    }
    at += bytes;
  }
}

static void take_name(const struct header *h) {
  size_t prefix = memcmp(h->magic, "ustar\000", 6) == 0 ? strnlen(h->prefix, sizeof h->prefix) : 0;
  char *at = member.name;
  if (member.has_name) return;
  if (prefix) {
    memcpy(at, h->prefix, prefix);
    at[prefix] = '/';
    at += prefix + 1;
  }
  memcpy(at, h->name, strnlen(h->name, sizeof h->name));
  at[strnlen(h->name, sizeof h->name)] = 0;
}

/* The name without "./", doubled slashes and a slash at its end, or the end of everything where it leads elsewhere. */
static const char *plain_name(char *name) {
  size_t length = strlen(name);
  while (length > 0 && name[length - 1] == '/') name[--length] = 0;
  while (name[0] == '.' && name[1] == '/') {
    name += 2;
    while (*name == '/') name++;
  }
  if (name[0] == 0 || (name[0] == '.' && name[1] == 0)) return NULL;
  for (char *at = name;;) {
    size_t part = strcspn(at, "/");
    if (part == 0 || (part == 1 && at[0] == '.') || (part == 2 && at[0] == '.' && at[1] == '.')) file_fail(STAGE_ARCHIVE, EINVAL);
    if (at[part] == 0) return name;
    at += part + 1;
    memmove(at, at + strspn(at, "/"), strlen(at + strspn(at, "/")) + 1);
  }
}

/* Where what replaces others is made before it is renamed; -1: nothing is replaced in one step. */
static int stage = -1;

/* Whether folders with all that is beneath them go where they stand in the way. */
static bool clears;

static void clear_way(int parent, const char *name) {
  uint32_t error;
  if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) return;
  if (!clears || (errno != EISDIR && errno != EPERM)) file_fail(STAGE_OPEN, errno);
  error = remove_entry(parent, name, 0);
  if (error) file_fail(STAGE_OPEN, (int)error);
}

/* A folder in which that can be made for this one: the other one, unless it is of another file system or not writable. */
static int stage_for(int parent) {
  struct stat there, here;
  if (fstat(stage, &there) || fstat(parent, &here)) return parent;
  return there.st_dev == here.st_dev && faccessat(stage, ".", W_OK | X_OK, 0) == 0 ? stage : parent;
}

/* Puts what was made in its place; a folder that stands there goes. */
static void place_fresh(int parent, const char *name) {
  struct stat st;
  if (!fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode)) {
    uint32_t error = remove_entry(parent, name, 0);
    if (error) file_fail(STAGE_WRITE, (int)error);
  }
  fresh_place(parent, name, false);
}

static void set_time(int fd) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = (time_t)member.modified}};
  if (futimens(fd, times)) return;
}

static void unpack_file(int parent, const char *name) {
  static uint8_t bytes[BLOCK * 64];
  uint64_t left = member.size;
  int fd;
  count_bytes(left);
  if (stage < 0) clear_way(parent, name);
  fd = stage < 0 ? openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : fresh_file(stage_for(parent));
  if (fd < 0) file_fail(STAGE_OPEN, errno);
  while (left > 0) {
    size_t want = left < sizeof bytes ? (size_t)left : sizeof bytes, padded = (want + BLOCK - 1) / BLOCK * BLOCK;
    if (!file_read(bytes, padded)) file_fail(STAGE_ARCHIVE, EPIPE);
    for (size_t at = 0; at < want;) {
      ssize_t part = write(fd, bytes + at, want - at);
      if (part < 0) file_fail(STAGE_WRITE, errno);
      at += (size_t)part;
    }
    left -= want;
  }
  if (fchmod(fd, member.mode)) file_fail(STAGE_WRITE, errno);
  if (stage >= 0) {
    place_fresh(parent, name);
    return;
  }
  set_time(fd);
  close(fd);
}

static void unpack_folder(int parent, const char *name) {
  struct stat st;
  if (stage >= 0 || clears) {
    int fd = clear_folder(parent, name, member.mode | 0700);
    if (fd < 0) file_fail(STAGE_OPEN, errno);
    close(fd);
    return;
  }
  if (mkdirat(parent, name, member.mode | 0700) == 0) return;
  if (errno == EEXIST && !fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode)) return;
  file_fail(STAGE_OPEN, errno);
}

/* A link or FIFO. */
static void unpack_name(int folder, int parent, const char *name, char type) {
  int at = stage < 0 ? parent : stage_for(parent), error;
  const char *made = stage < 0 ? name : fresh_name(at);
  if (stage < 0) clear_way(parent, name);
  if (type == '1') {
    const char *last, *target = plain_name(member.target);
    int from = target ? open_parent(folder, target, false, &last) : -1;
    if (from < 0 || linkat(from, last, at, made, 0)) file_fail(STAGE_ARCHIVE, errno);
    close(from);
    error = 0;
  } else if (type == '2') {
    error = symlinkat(member.target, at, made);
  } else {
    error = mkfifoat(at, made, member.mode);
  }
  if (error) file_fail(STAGE_WRITE, errno);
  if (stage < 0) return;
  fresh_made();
  place_fresh(parent, name);
}

/* Opens the folder that holds the last component; what stands in the way goes, and what is missing is made. */
static int clear_parent(int folder, const char *plain, const char **name) {
  int at = fcntl(folder, F_DUPFD_CLOEXEC, 3);
  for (*name = plain; at >= 0;) {
    char part[256];
    size_t length = strcspn(*name, "/");
    int next = -1;
    if ((*name)[length] == 0) return at;
    errno = ENAMETOOLONG;
    if (length < sizeof part) {
      memcpy(part, *name, length);
      part[length] = 0;
      next = clear_folder(at, part, 0755);
    }
    close(at);
    at = next;
    *name += length + 1;
  }
  return -1;
}

static void unpack_member(int folder, const struct header *h) {
  const char *name, *plain = plain_name(member.name);
  int parent;
  if (h->type != '0' && h->type != 0 && h->type != '7') skip(member.size);
  if (!plain && h->type == '5') return;
  if (!plain) file_fail(STAGE_ARCHIVE, EINVAL);
  count_entry();
  parent = stage < 0 && !clears ? open_parent(folder, plain, true, &name) : clear_parent(folder, plain, &name);
  if (parent < 0) file_fail(STAGE_PATH, errno);
  switch (h->type) {
    case '0':
    case '7':
    case 0: unpack_file(parent, name); break;
    case '5': unpack_folder(parent, name); break;
    case '1':
    case '2':
    case '6': unpack_name(folder, parent, name, h->type); break;
    default: file_fail(STAGE_ARCHIVE, ENOTSUP);
  }
  close(parent);
}

static bool is_end(const struct header *h) {
  const char *bytes = (const char *)h;
  for (size_t i = 0; i < BLOCK; i++) {
    if (bytes[i]) return false;
  }
  return true;
}

/* `replaces`: where new files are made before they replace others; -1: they are made in their place. */
void unpack(int folder, int replaces, bool whole) {
  struct header h;
  stage = replaces;
  clears = whole;
  for (;;) {
    uint64_t size;
    if (!file_read(&h, sizeof h)) file_fail(STAGE_ARCHIVE, EPIPE);
    if (is_end(&h)) break;
    if (!sum_fits(&h)) file_fail(STAGE_ARCHIVE, EINVAL);
    size = get_number(h.size, sizeof h.size);
    if (h.type == 'x') {
      read_pax(size);
    } else if (h.type == 'g') {
      skip(size);
    } else if (h.type == 'L') {
      read_long(member.name, sizeof member.name, size);
      member.has_name = true;
    } else if (h.type == 'K') {
      read_long(member.target, sizeof member.target, size);
      member.has_target = true;
    } else {
      take_name(&h);
      if (!member.has_target) keep(member.target, &member.has_target, h.target, strnlen(h.target, sizeof h.target));
      if (!member.has_size) member.size = size;
      member.mode = (mode_t)get_number(h.mode, sizeof h.mode) & 0777;
      member.modified = get_number(h.modified, sizeof h.modified);
      unpack_member(folder, &h);
      memset(&member, 0, sizeof member);
    }
  }
  file_drain(); /* what follows the end */
  file_done();
}
