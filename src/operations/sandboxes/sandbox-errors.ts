import { GloveboxError } from "../../errors/glovebox-error.ts";

/** There is none with that id; lists those that exist. */
export function sandboxNotFound(id: string, known: readonly string[]): GloveboxError {
  const existing = known.length === 0 ? "There are none." : `There are ${known.join(", ")}.`;
  return new GloveboxError("NOT_FOUND", `No sandbox ${JSON.stringify(id)}. ${existing}`, {
    context: { sandbox_id: id, sandbox_ids: known },
  });
}

/** The caller has none with that id, whether or not someone else does. */
export function notYours(id: string): GloveboxError {
  const shown = id.slice(0, 80);
  return new GloveboxError("NOT_FOUND", `You have no live sandbox ${JSON.stringify(shown)}.`, {
    suggestion: "List your sandboxes (GET /api/sandbox, `glovebox ps`): it may have ended.",
    context: { sandbox_id: shown },
  });
}

/** Asked of the process that had it. */
export function sandboxEnded(id: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `Sandbox ${JSON.stringify(id)} has ended.`, {
    suggestion: "List the live sandboxes (`glovebox ps`).",
    context: { sandbox_id: id },
  });
}

/** It was removed on request, or with what it belonged to, while something ran in it. */
export function sandboxRemoved(id: string): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `Sandbox ${id} was removed.`, {
    suggestion:
      "Open another one. `glovebox rm`, the console and the API remove sandboxes, and so does the end of the run, session or environment that they belong to.",
    context: { sandbox_id: id, reason: "removed", retryable: false },
  });
}

/** Its owner is alive but does not end it. */
export function notRemoved(id: string): GloveboxError {
  return new GloveboxError("INTERNAL", `The process that owns ${id} did not remove it.`, {
    suggestion: "End that process; its sandboxes end with it.",
    context: { sandbox_id: id },
  });
}

/** Its owner is alive but accepts no connections. */
export function noPeerServer(id: string): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    `The process that owns ${id} does not accept commands from other processes.`,
    {
      suggestion:
        "Its log says why: the state folder must be writable and belong to its user. End that process to end the sandbox.",
      context: { sandbox_id: id },
    },
  );
}

/** Its owner is gone. */
export function ownerGone(id: string): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `The process that owned ${id} has ended, and nothing can be run in it.`, {
    suggestion: "`glovebox prune` removes what it left.",
    context: { sandbox_id: id },
  });
}

/** It is on an engine that this user sees, but its owner is not a process of this user on this machine. */
export function ownerElsewhere(id: string): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    `${id} belongs to a process of another user or machine, or with another state folder.`,
    {
      suggestion: "Run the command as that user, on that machine and with the same XDG_STATE_HOME.",
      context: { sandbox_id: id },
    },
  );
}
