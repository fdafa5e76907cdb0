/*
 * Small pieces of text, without the C library's printf and scanf, which are as large as the rest.
 */
#include <fcntl.h>
#include <sys/syscall.h>

#include "supervisor.h"

/* Appends to a string; the caller's buffer is large enough. Gives the new end. */
char *put_text(char *at, const char *text) {
  while (*text) *at++ = *text++;
  *at = 0;
  return at;
}

char *put_number(char *at, uint64_t value) {
  char digits[20];
  int count = 0;
  do digits[count++] = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  while (count > 0) *at++ = digits[--count];
  *at = 0;
  return at;
}

/* Reads a number in decimal and moves behind it; false when there is none. One that is too large is the largest. */
bool take_number(const char **at, uint64_t *value) {
  const char *start;
  while (**at == ' ' || **at == '\t') ++*at;
  start = *at;
  for (*value = 0; **at >= '0' && **at <= '9'; ++*at) {
    *value = *value > (UINT64_MAX - 9) / 10 ? UINT64_MAX : *value * 10 + (uint64_t)(**at - '0');
  }
  return *at > start;
}

/* Reads a small file, such as the kernel makes, as a string; false when it is empty or gone. */
bool read_text(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t length;
  if (fd < 0) return false;
  length = read(fd, text, size - 1);
  close(fd);
  if (length <= 0) return false;
  text[length] = 0;
  return true;
}

/* The same for one that the kernel gives in pieces, as far as it fits. */
bool read_whole(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  size_t length = 0;
  ssize_t got = 1;
  if (fd < 0) return false;
  while (length < size - 1 && (got = read(fd, text + length, size - 1 - length)) > 0) length += (size_t)got;
  close(fd);
  text[length] = 0;
  return length > 0;
}

struct record64 {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[];
};

/* The next name in an open folder but "." and ".."; NULL at the end. The names are valid until the next call. */
const char *next_name(struct folder *f) {
  for (;;) {
    struct record64 *record;
    if (f->at >= f->length) {
      f->length = (int)syscall(SYS_getdents64, f->fd, f->buffer, sizeof f->buffer);
      f->at = 0;
      if (f->length <= 0) return NULL;
    }
    record = (struct record64 *)(f->buffer + f->at);
    f->at += record->length;
    if (record->name[0] == '.' && (record->name[1] == 0 || (record->name[1] == '.' && record->name[2] == 0))) continue;
    return record->name;
  }
}
