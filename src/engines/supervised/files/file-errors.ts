import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { pathError, type FileProblem } from "../../path-errors.ts";
import type { StreamEnd } from "../channel/stream.ts";
import { errnoName, errnoText, type LinuxErrno } from "../frames/linux-errno.ts";

const meanings: Readonly<Partial<Record<LinuxErrno, FileProblem>>> = {
  ...{ ENOENT: "missing", EEXIST: "exists", ENOTEMPTY: "exists" },
  ...{ EACCES: "closed", EPERM: "closed", EROFS: "closed" },
  ...{ ENOTDIR: "noFolder", EISDIR: "folder", EINVAL: "special", ENAMETOOLONG: "longName" },
  ...{ ELOOP: "circle", EXDEV: "circle" },
  ...{ ENOSPC: "full", EDQUOT: "full", EFBIG: "full" },
  ...{ EMFILE: "busy", ENFILE: "busy", EAGAIN: "busy", ENOMEM: "busy" },
};

/** The error of a file operation that did not end as asked; `path` is what it was about. */
export function fileError({ reason, stage, errno }: StreamEnd, path: string): GloveboxError {
  const context = { path, stage };
  const shown = JSON.stringify(path);
  if (reason === "DEADLINE") {
    return new GloveboxError("TIMEOUT", `${shown} was not read or written in time.`, {
      suggestion: "Retry with fewer or smaller files; a program of the sandbox may hold the files up.",
      context,
    });
  }
  if (stage === "ENTRIES") {
    return new GloveboxError("POLICY_DENIED", `${shown} has more entries, bytes or folders in folders than allowed.`, {
      suggestion: "Take a smaller part.",
      context,
    });
  }
  if (stage === "ARCHIVE") {
    return new GloveboxError("INVALID_REQUEST", "The archive is damaged, or contains what is not unpacked.", {
      suggestion: "Give a tar archive of files, folders and links whose names stay below the folder.",
      context,
    });
  }
  if (stage === "HELPER") {
    return new GloveboxError("POLICY_DENIED", `A program in the sandbox ended or stopped the work on ${shown}.`, {
      suggestion: "End the sandbox's background processes, then retry.",
      context: { ...context, rule: "answer" },
    });
  }
  if (stage === "STREAMS" || stage === "FORK") {
    return new GloveboxError(
      "CAPACITY",
      "Too many programs, connections and file operations are open in the sandbox.",
      {
        suggestion: "End some of them, or wait until they have ended; then retry.",
      },
    );
  }
  return pathError(path, meanings[errnoName(errno) ?? "EIO"] ?? null, new Error(errnoText(errno)));
}
