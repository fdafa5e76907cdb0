import type { ErrorType } from "../../errors/catalogue.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { FileUse, FileWork } from "../place/place-files.ts";
import type { OpenSessionOptions } from "./open-session-sandbox.ts";
import { noExtraNeeds } from "./no-extra-needs.ts";
import type { Session } from "./session.ts";

/** Ends its sandbox: an engine may also wait for a program that another one delays. */
const unanswered: ReadonlySet<ErrorType> = new Set(["SANDBOX_LOST", "OOM_KILLED", "ENGINE_UNAVAILABLE"]);

/** No program runs. */
const noNetwork = { kind: "none" } as const;

/**
 * Does the work with the session's files inside its sandbox, when it is its turn. A sandbox that does not answer, and
 * cannot be made to, is given up.
 * @throws what the work throws
 */
export async function useFiles<T>(
  session: Session,
  options: Omit<OpenSessionOptions, "runNetwork">,
  caller: Caller,
  work: FileWork<T>,
): Promise<FileUse<T>> {
  return session.use(
    caller,
    noExtraNeeds(session.settings, { ...options, runNetwork: noNetwork }),
    async (opened, user) => {
      try {
        const { restarted, warnings } = opened;
        return { result: await work(opened.live.sandbox.files, user), restarted, warnings, toolingFiles: null };
      } catch (error) {
        if (error instanceof GloveboxError && unanswered.has(error.errorType)) opened.live.markUnusable();
        throw error;
      }
    },
  );
}
