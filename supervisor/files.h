/*
 * What a helper process knows: one job, the folder that everything is beneath, and where its answer goes.
 */
#ifndef FILES_H
#define FILES_H

#include <stdatomic.h>
#include <sys/stat.h>

#include "supervisor.h"

/* Folders that are open at once on the way down. */
#define MAX_DEPTH 256

struct job {
  struct frame_file frame;
  char folder[MAX_PATH_BYTES + 1], path[MAX_PATH_BYTES + 1], other[MAX_PATH_BYTES + 1];
  atomic_bool input_is_whole; /* INPUT_END came: the end of the pipe is the end of INPUT */
};

void files_run(const struct job *job) __attribute__((noreturn));

/* For archive.c. */
void file_fail(uint8_t stage, int error) __attribute__((noreturn));
void file_end(uint8_t stage, int error) __attribute__((noreturn));
void file_done(void) __attribute__((noreturn));
void file_write(const void *bytes, size_t length);
void file_drain(void);
bool file_read(void *bytes, size_t length);
int open_beneath(int folder, const char *path, int how);
int open_parent(int folder, const char *path, bool make, const char **name);
int clear_folder(int parent, const char *name, mode_t mode);
const char *fresh_name(int folder);
int fresh_file(int folder);
void fresh_made(void);
void fresh_place(int parent, const char *name, bool exclusive);
void count_entry(void);
void count_bytes(uint64_t bytes);
uint32_t remove_entry(int parent, const char *name, int depth);
void pack_whole(int folder) __attribute__((noreturn));
void pack_one(int parent, const char *name) __attribute__((noreturn));
void unpack(int folder, int replaces, bool whole) __attribute__((noreturn));

#endif
