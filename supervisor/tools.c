/*
 * What this file does when a program runs it, as that program and with no more rights: attributes of files, and watching folders
 * (watch.c), for images that have no program for them. It is pid 1 of nothing then, and pid 1 knows nothing of it.
 */
#include "tools.h"

#include <sys/xattr.h>

/* A name as the kernel takes it, with its prefix. */
#define MAX_NAME_BYTES 255
/* Names and values that are told of one file. */
#define MAX_TOLD_BYTES 4096

static uint8_t out[65536];
static size_t out_length;
static bool out_failed;

int tool_why(int error) {
  if (error == ENOENT || error == ENOTDIR) return TOOL_MISSING;
  if (error == EOPNOTSUPP || error == ENOSYS) return TOOL_UNSUPPORTED;
  if (error == ENOSPC || error == EDQUOT || error == E2BIG || error == ERANGE) return TOOL_FULL;
  return TOOL_FAILED;
}

int tool_flush(void) {
  for (size_t at = 0; at < out_length && !out_failed;) {
    ssize_t length = write(1, out + at, out_length - at);
    if (length >= 0) at += (size_t)length;
    else if (errno != EINTR) out_failed = true;
  }
  out_length = 0;
  return out_failed ? TOOL_FAILED : 0;
}

void tool_put(const void *bytes, size_t length) {
  if (length > sizeof out - out_length) tool_flush();
  memcpy(out + out_length, bytes, length);
  out_length += length;
}

/* Letters, digits, '.', '_' and '-' are themselves, every other byte is %XX: none is taken for what stands between names and values. */
static void put_escaped(const char *bytes, size_t length) {
  static const char itself[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", digits[] = "0123456789ABCDEF";
  for (size_t i = 0; i < length; i++) {
    uint8_t byte = (uint8_t)bytes[i];
    char escaped[3] = {'%', digits[byte >> 4], digits[byte & 15]};
    if (byte && strchr(itself, byte)) tool_put(&byte, 1);
    else tool_put(escaped, sizeof escaped);
  }
}

/* NAME=VALUE&NAME=VALUE of the attributes with a prefix, which is left out; those that would be too many bytes are not told. */
static int attributes(const char *prefix, const char *path) {
  static char names[65536], value[MAX_TOLD_BYTES];
  size_t told = 0, skip = strlen(prefix);
  ssize_t length = listxattr(path, names, sizeof names);
  bool first = true;
  if (length < 0) return tool_why(errno);
  for (const char *name = names; name < names + length; name += strlen(name) + 1) {
    size_t rest = strlen(name);
    ssize_t bytes;
    if (rest <= skip || memcmp(name, prefix, skip)) continue;
    rest -= skip;
    bytes = getxattr(path, name, value, sizeof value);
    if (bytes < 0 || told + rest + (size_t)bytes > MAX_TOLD_BYTES) continue;
    told += rest + (size_t)bytes;
    if (!first) tool_put("&", 1);
    put_escaped(name + skip, rest);
    tool_put("=", 1);
    put_escaped(value, (size_t)bytes);
    first = false;
  }
  return tool_flush();
}

static bool full_name(char name[MAX_NAME_BYTES + 1], const char *prefix, const char *rest) {
  if (strlen(prefix) + strlen(rest) > MAX_NAME_BYTES) return false;
  put_text(put_text(name, prefix), rest);
  return true;
}

/* Sets NAME VALUE NAME VALUE of a file that has none of them: all, or none. */
static int set_attributes(const char *prefix, const char *path, char **pairs) {
  char name[MAX_NAME_BYTES + 1];
  for (char **at = pairs; at[0] && at[1]; at += 2) {
    int error = E2BIG;
    if (full_name(name, prefix, at[0])) {
      if (setxattr(path, name, at[1], strlen(at[1]), 0) == 0) continue;
      error = errno;
    }
    for (char **done = pairs; done < at; done += 2) {
      if (full_name(name, prefix, done[0])) removexattr(path, name);
    }
    return tool_why(error);
  }
  return 0;
}

/* Does what the arguments name, and returns what the program ends with. */
int tool(int count, char **arguments) {
  static const char usage[] =
      "supervisor: expected attributes PREFIX PATH, set-attributes PREFIX PATH NAME VALUE [NAME VALUE]..., or watch|watch-tree PATH\n";
  const char *name = arguments[1];
  if (count == 4 && !strcmp(name, "attributes")) return attributes(arguments[2], arguments[3]);
  if (count >= 6 && count % 2 == 0 && !strcmp(name, "set-attributes")) return set_attributes(arguments[2], arguments[3], arguments + 4);
  if (count == 3 && !strcmp(name, "watch")) return watch(arguments[2], false);
  if (count == 3 && !strcmp(name, "watch-tree")) return watch(arguments[2], true);
  if (write(2, usage, sizeof usage - 1) < 0) return TOOL_FAILED;
  return TOOL_USAGE;
}
