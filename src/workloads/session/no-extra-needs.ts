import { openSessionSandbox, prepareSessionSandbox, type OpenSessionOptions } from "./open-session-sandbox.ts";
import type { SessionSettings } from "./session-call.ts";
import type { SandboxWish } from "./session.ts";

/** Wants the session's sandbox as it is, with the packages that it has. */
export function plainWish(settings: SessionSettings, options: OpenSessionOptions): SandboxWish {
  return {
    missing: () => Promise.resolve(null),
    prepare: (packages, caller) => prepareSessionSandbox(settings, packages, options, caller),
    open: (packages, caller) => openSessionSandbox(settings, packages, options, caller),
  };
}
