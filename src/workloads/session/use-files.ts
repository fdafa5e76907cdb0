import type { SandboxFiles } from "../../sandbox/files/sandbox-files.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { OpenSessionOptions } from "./open-session-sandbox.ts";
import { plainWish } from "./plain-wish.ts";
import type { OpenedSession, Session } from "./session.ts";

/** How the files of a session were used. */
export interface FileUse<T> {
  readonly result: T;
  readonly opened: Pick<OpenedSession, "restarted" | "warnings">;
}

/** No program runs. */
const noNetwork = { kind: "none" } as const;

/** Does the work with the session's files inside its sandbox, when it is its turn. @throws what the work throws */
export async function useFiles<T>(
  session: Session,
  options: Omit<OpenSessionOptions, "runNetwork">,
  caller: Caller,
  work: (files: SandboxFiles, caller: Caller) => Promise<T>,
): Promise<FileUse<T>> {
  return session.use(
    caller,
    plainWish(session.settings, { ...options, runNetwork: noNetwork }),
    async (opened, user) => ({
      result: await work(opened.live.sandbox.files, user),
      opened,
    }),
  );
}
