import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ErrorType } from "../../errors/catalogue.ts";

const rows: Readonly<Record<string, readonly [type: ErrorType, says: string]>> = {
  ENOENT: ["NOT_FOUND", "does not exist on this machine"],
  ENOTDIR: ["INVALID_REQUEST", "is no folder on this machine, or a link, which is not followed"],
  ELOOP: ["INVALID_REQUEST", "is a link on this machine, which is not followed"],
  EISDIR: ["INVALID_REQUEST", "is a folder on this machine"],
  ENOTEMPTY: ["INVALID_REQUEST", "is a folder on this machine"],
  EEXIST: ["INVALID_REQUEST", "is something else on this machine already"],
  EACCES: ["PERMISSION_DENIED", "is not open to you on this machine"],
  EPERM: ["PERMISSION_DENIED", "is not open to you on this machine"],
  EROFS: ["PERMISSION_DENIED", "cannot be written on this machine"],
  ENOSPC: ["POLICY_DENIED", "does not fit: this machine's disk is full"],
  EDQUOT: ["POLICY_DENIED", "does not fit: your quota on this machine is full"],
  EAGAIN: ["PERMISSION_DENIED", "is held by another program of this machine, which has a lease on it"],
  EMFILE: ["CAPACITY", "cannot be opened: too many files are open on this machine"],
  ENFILE: ["CAPACITY", "cannot be opened: too many files are open on this machine"],
  ENAMETOOLONG: ["INVALID_REQUEST", "has a name that is too long for this machine"],
};

/**
 * The result of work on this machine's files; failures are translated to the catalogue's errors, with `path` as the
 * caller or the sandbox named it.
 */
export async function onHost<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw hostError(path, error);
  }
}

/** An error of work on this machine's files as the catalogue has it; others as they are. */
export function hostError(path: string, error: unknown): unknown {
  const [type, says] = rows[(error as NodeJS.ErrnoException).code ?? ""] ?? [];
  if (type === undefined || error instanceof GloveboxError) return error;
  return new GloveboxError(type, `${JSON.stringify(path.slice(0, 200))} ${says}.`, {
    suggestion: "Name another path.",
    context: { path },
    cause: error,
  });
}
