import { runtimeOf, type RuntimeName } from "../../languages/language-table.ts";
import { runsInterpretersOnly } from "../../engines/capabilities.ts";
import { checkMainFile } from "../../languages/main-file.ts";
import { temporaryFolder } from "../../policy/scratch.ts";
import { packagesFolder } from "../../policy/profile.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import { joinedModules } from "../../languages/imported-modules.ts";
import type { ImportsAhead } from "../program/importing-runner.ts";
import { programVariables } from "./program-variables.ts";
import type { SessionCall } from "./session-call.ts";
import type { SessionSandbox } from "./session-sandbox.ts";

/** Folders in which programs of a session can leave files. */
export function writableFolders({ sandbox, profile }: Pick<SessionSandbox, "sandbox" | "profile">): readonly string[] {
  return [profile.workingDirectory, packagesFolder, temporaryFolder].map((place) => sandbox.folderOf(place));
}

/** A call that has ended. */
export interface EndedCall {
  readonly call: SessionCall;
  readonly toolchain: RuntimeName;
  readonly outcome: Outcome;
  /** Whether background processes of the session are running. */
  readonly hasProcesses: boolean;
}

/** Starts the interpreter that waits for the next call, which is likely to be as this one was. */
export function prepareNext(live: SessionSandbox, ended: EndedCall): void {
  const { call, toolchain } = ended;
  live.runner.prepare({ toolchain, mainFile: checkMainFile(undefined, call.language) }, importsAhead(live, ended));
}

/** What programs of the session have imported, when it can be imported before the next one comes and harms nobody. */
function importsAhead(
  live: SessionSandbox,
  { call, toolchain, outcome, hasProcesses }: EndedCall,
): ImportsAhead | undefined {
  const { importedModules } = runtimeOf(toolchain);
  if (importedModules === null || runsInterpretersOnly(live.capabilities)) return undefined;
  // What has not ended by itself may have been delayed by its imports.
  if (outcome === "completed" || outcome === "failed") {
    live.modules = joinedModules(live.modules, importedModules(call.code));
  }
  // Memory must not be taken from them for what may not be needed.
  if (live.modules.length === 0 || hasProcesses) return undefined;
  const { sandbox, profile } = live;
  return {
    modules: live.modules,
    environment: programVariables(live, null, call.hostEnvironment),
    workingDirectory: sandbox.folderOf(profile.workingDirectory),
    writableFolders: writableFolders(live),
  };
}
