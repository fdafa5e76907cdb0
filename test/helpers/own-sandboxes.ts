import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { SandboxRow } from "./wire-glovebox.ts";
import { runCommand } from "./run-command.ts";

export interface OwnSandboxes {
  /** Environment for the processes that own these sandboxes. */
  environment(): { readonly XDG_STATE_HOME: string };
  on(engine: string): Promise<SandboxRow[]>;
}

/** A state folder for one test, so that other sandboxes on the same engines stay out of sight. */
export function useOwnSandboxes(): OwnSandboxes {
  let stateHome = "";
  beforeAll(() => {
    stateHome = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-state-"));
  });
  afterAll(() => rmSync(stateHome, { recursive: true }));
  const environment = (): { XDG_STATE_HOME: string } => ({ XDG_STATE_HOME: stateHome });
  return {
    environment,
    on: async (engine) => {
      const { stdout } = await runCommand(["ps", "--json", "--engine", engine], { environment: environment() });
      const { sandboxes } = JSON.parse(stdout) as { readonly sandboxes: readonly SandboxRow[] };
      // Other sandboxes have their leases elsewhere, so this command does not know their owners.
      return sandboxes.filter(({ owner }) => owner !== "unknown");
    },
  };
}
