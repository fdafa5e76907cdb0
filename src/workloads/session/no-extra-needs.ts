import { openSessionSandbox, prepareSessionSandbox, type OpenSessionOptions } from "./open-session-sandbox.ts";
import { growPackages } from "./packages/grow-packages.ts";
import type { SessionSettings } from "./session-call.ts";
import type { SandboxNeeds } from "./sandbox-needs.ts";

/** The session's sandbox as it is, with the packages that it has. */
export function noExtraNeeds(settings: SessionSettings, options: OpenSessionOptions): SandboxNeeds {
  return {
    missing: () => Promise.resolve(null),
    grow: (live, packages, caller) => growPackages(live, packages, settings, options, caller),
    prepare: (packages, caller) => prepareSessionSandbox(settings, packages, options, caller),
    open: (packages, caller) => openSessionSandbox(settings, packages, options, caller),
  };
}
