import { GloveboxError } from "../../errors/glovebox-error.ts";

/** The error of work whose sandbox disappeared without our doing. */
export function lostError(cause?: unknown): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "The sandbox on engine local is gone, or could not be set up.", { cause });
}

/** The error for a second container of the same name. */
export function nameTaken(name: string): GloveboxError {
  return new GloveboxError("ALREADY_EXISTS", `A container named ${name} exists on engine local.`, {
    context: { name },
  });
}

/** The error of a second `attach`. */
export function attachedAlready(): GloveboxError {
  return new GloveboxError("ALREADY_EXISTS", "The container's main process is attached to already.");
}

/** The error of `attach` where programs come by `exec` only. */
export function nothingToAttachTo(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "The container has no command of its own to attach to.", {
    suggestion: "Run a program in it instead.",
  });
}

/** The error of a connection to a port where programs have no network, loopback included. */
export function noConnections(isolation: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `At isolation ${isolation} programs have no network, so none can listen.`, {
    suggestion: "Choose an engine with a higher isolation (`glovebox doctor` lists them).",
    context: { missing: "execNetwork", isolation },
  });
}
