/*
 * What the tools share: programs of a sandbox run this file as one of them.
 */
#ifndef TOOLS_H
#define TOOLS_H

#include "supervisor.h"

/* What a tool ends with; 0: done. */
enum { TOOL_FAILED = 1, TOOL_USAGE = 2, TOOL_MISSING = 3, TOOL_UNSUPPORTED = 4, TOOL_FULL = 5, TOOL_NO_FOLDER = 6, TOOL_LATE = 7 };

int tool_why(int error);
void tool_put(const void *bytes, size_t length);
int tool_flush(void);
int watch(const char *path, bool recursive);

#endif
