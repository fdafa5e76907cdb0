import {
  openSessionSandbox,
  prepareSessionSandbox,
  provideMore,
  type OpenSessionOptions,
} from "./open-session-sandbox.ts";
import type { SessionSettings } from "./session-call.ts";
import type { SandboxNeeds } from "./sandbox-needs.ts";
import { kibibyte } from "../../base/bytes.ts";
import type { ProvidedPackages } from "../../packages/provided-packages.ts";
import type { Ecosystem } from "../../policy/install-policy.ts";
import { runSandboxCommand } from "../../sandbox/sandbox-command.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { SessionSandbox } from "./session-sandbox.ts";
import { ecosystems } from "./sandbox-packages.ts";
import type { SessionPackages } from "./session-packages.ts";

/** The session's sandbox as it is, with the packages that it has. */
export function noExtraNeeds(settings: SessionSettings, options: OpenSessionOptions): SandboxNeeds {
  return {
    missing: () => Promise.resolve(null),
    grow: (live, packages, caller) => growPackages(live, packages, settings, options, caller),
    prepare: (packages, caller) => prepareSessionSandbox(settings, packages, options, caller),
    open: (packages, caller) => openSessionSandbox(settings, packages, options, caller),
  };
}

const seenWithinMs = 20_000;

/**
 * Gives a live sandbox the packages that it lacks of these. False when only another sandbox can have them: this one cannot
 * be given more, or programs of it may be using another version of one.
 * @throws what `Packages.provide` throws, CANCELLED, SANDBOX_LOST
 */
async function growPackages(
  live: SessionSandbox,
  specs: SessionPackages,
  settings: SessionSettings,
  options: OpenSessionOptions,
  caller: Caller,
): Promise<boolean> {
  const { packages, capabilities } = live;
  if (!packages.canGrow) return false;
  for (const ecosystem of ecosystems) {
    const had = new Set(packages.specs[ecosystem]);
    const wanted = specs[ecosystem].filter((spec) => !had.has(spec));
    if (wanted.length === 0) continue;
    // Alone, because others may already have had them installed; or, if that brings other versions, together with the
    // rest.
    const lists = had.size === 0 ? [wanted] : [wanted, specs[ecosystem]];
    const provide = (list: readonly string[]): Promise<ProvidedPackages> =>
      provideMore(settings, { ecosystem, specs: list, capabilities }, options, caller);
    if (!(await addFirst(live, { ecosystem, lists, provide }, caller))) return false;
  }
  packages.become(specs);
  return true;
}

interface Choices {
  readonly ecosystem: Ecosystem;
  readonly lists: readonly (readonly string[])[];
  readonly provide: (list: readonly string[]) => Promise<ProvidedPackages>;
}

/** Adds the first of the lists that fits what is there. */
async function addFirst(
  { packages, sandbox }: SessionSandbox,
  { ecosystem, lists, provide }: Choices,
  caller: Caller,
): Promise<boolean> {
  for (const list of lists) {
    const provided = await provide(list);
    if (!packages.accepts(provided)) {
      await provided[Symbol.asyncDispose]();
      continue;
    }
    const added = await packages.add(ecosystem, provided);
    return added === null || isSeen(sandbox, added, caller);
  }
  return false;
}

/** Whether the sandbox really shows it: an engine may have copied what was there at the beginning. */
async function isSeen(sandbox: SessionSandbox["sandbox"], path: string, { signal }: Caller): Promise<boolean> {
  const command = ["sh", "-c", 'test -e "$1"', "sh", path];
  const { exitCode } = await runSandboxCommand(
    sandbox,
    { command, maxOutputBytes: kibibyte, timeLimitMs: seenWithinMs },
    { signal },
  );
  return exitCode === 0;
}
