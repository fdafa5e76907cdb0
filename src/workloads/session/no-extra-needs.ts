import { openSessionSandbox, prepareSessionSandbox, type OpenSessionOptions } from "./open-session-sandbox.ts";
import type { SessionSettings } from "./session-call.ts";
import type { SandboxNeeds } from "./sandbox-needs.ts";

/** The session's sandbox as it is, with the packages that it has. */
export function noExtraNeeds(settings: SessionSettings, options: OpenSessionOptions): SandboxNeeds {
  return {
    missing: () => Promise.resolve(null),
    prepare: (packages, caller) => prepareSessionSandbox(settings, packages, options, caller),
    open: (packages, caller) => openSessionSandbox(settings, packages, options, caller),
  };
}
