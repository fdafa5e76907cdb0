import { CommandError } from "../output/command-error.ts";

/** The version's message for a program that could not be started, derived from Docker's. */
export function startError(docker: string, id: string, executable: string, processId: string): CommandError {
  const cause = reasonOf(docker, executable);
  return new CommandError(
    "internalError",
    `failed to start process ${processId} in container ${id}`,
    new CommandError("internalError", `vmexec error: ${cause.coded()}`),
  );
}

function reasonOf(docker: string, executable: string): CommandError {
  if (/unable to find user|no matching entries in passwd/.test(docker)) {
    return new CommandError("internalError", "noPasswdEntries");
  }
  if (/unable to find group|no matching entries in group/.test(docker)) {
    return new CommandError("internalError", "noGroupEntries");
  }
  if (/executable file not found|no such file or directory|is a directory|not a directory/.test(docker)) {
    return new CommandError("internalError", `failed to find target executable ${executable}`);
  }
  return new CommandError("internalError", docker.replaceAll("OCI runtime", "guest"));
}

/** A port on this machine that is already in use. */
export function portError(docker: string): CommandError | undefined {
  if (!/port is already allocated|address already in use/.test(docker)) return undefined;
  const reason = new CommandError("unknown", "bind(descriptor:ptr:bytes:): Address already in use (errno: 48)");
  return new CommandError("internalError", "failed to bootstrap container", reason);
}
