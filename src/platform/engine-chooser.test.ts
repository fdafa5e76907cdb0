import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, afterEach, beforeEach } from "vitest";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import type { ChosenEngine, Engines } from "../engines/discover.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Reaper } from "../sandbox/owners/reaper.ts";
import { createEngineChooser, decideMinIsolation, openOwnState, type EngineChooserParts } from "./engine-chooser.ts";

let stateDirectory: string;
beforeAll(() => void (stateDirectory = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"))));
afterAll(() => rmSync(stateDirectory, { recursive: true }));

/** A chooser of a server on a machine whose engines answer as the record says, which may change. */
function chooser(
  answering: { docker: boolean },
  more: Partial<EngineChooserParts> & { readonly executionMode?: Config["executionMode"] } = {},
) {
  const { executionMode = null, ...parts } = more;
  const engines = {
    names: ["docker", "local"],
    embedded: "local",
    choose: (choice: string): Promise<ChosenEngine> => {
      const name = choice === "auto" ? "docker" : choice;
      if (name === "docker" && !answering.docker) {
        return Promise.reject(new GloveboxError("ENGINE_UNAVAILABLE", "Docker does not answer."));
      }
      return Promise.resolve({ engine: { name }, notes: [] } as unknown as ChosenEngine);
    },
  } as unknown as Engines;
  const config = { executionMode, containerRuntime: "auto", minIsolation: "namespaces", explicitSettings: [] };
  return createEngineChooser({
    config: config as unknown as Config,
    host: { stateDirectory, uid: process.getuid?.() ?? null } as Host,
    door: "server",
    defaultEngine: undefined,
    prefersContainers: true,
    engines,
    reaper: { watch: () => undefined } as unknown as Reaper,
    logger: { error: () => undefined } as unknown as Logger,
    ...parts,
  });
}

describe("where a server's sessions run", () => {
  const sessionEngine = async (found: ReturnType<typeof chooser>): Promise<string> =>
    (await found.chooseSessionEngine(undefined)).engine.name;

  it("in containers if nothing is configured and an engine answers, also when it has gone since", async () => {
    const answering = { docker: true };
    const found = chooser(answering);
    expect(await found.assertEngineAnswers()).toEqual({ engine: "docker" });
    expect(await sessionEngine(found)).toBe("docker");
    answering.docker = false;
    await expect(sessionEngine(found)).rejects.toMatchObject({ errorType: "ENGINE_UNAVAILABLE" });
  });

  it("in the embedded sandbox if no engine answers at the start", async () => {
    const found = chooser({ docker: false });
    expect(await found.assertEngineAnswers()).toEqual({ engine: null });
    expect(await sessionEngine(found)).toBe("local");
  });

  it.each([
    ["the configuration names the mode", { executionMode: "preload" as const }],
    ["an engine is named", { defaultEngine: "local" }],
    ["it is no server of many", { prefersContainers: false }],
  ])("in the embedded sandbox, with nothing settled, if %s", async (_, more) => {
    const found = chooser({ docker: true }, more);
    expect(await found.assertEngineAnswers()).toBeNull();
    expect(await sessionEngine(found)).toBe("local");
  });
});

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("openOwnState", () => {
  const uid = process.getuid?.() ?? null;

  it("makes the folder for this user alone", async () => {
    const stateDirectory = path.join(folder, "a", "glovebox");
    await openOwnState({ stateDirectory, uid, environment: {} });
    expect(statSync(stateDirectory).isDirectory()).toBe(true);
  });

  it.each([
    [
      {},
      "in the home folder (HOME): it is not a folder.",
      "Set HOME, or XDG_STATE_HOME for this folder alone, to a folder",
    ],
    [{ XDG_STATE_HOME: "state" }, "in the home folder (HOME): ", "Set HOME, or "],
    [{ XDG_STATE_HOME: "/s" }, "in the folder that XDG_STATE_HOME names: it is not a folder.", "Set it to a folder"],
  ])("says why it cannot be made with %j and what to set, and names no path", async (environment, why, remedy) => {
    writeFileSync(path.join(folder, "home"), "");
    const opening = openOwnState({ stateDirectory: path.join(folder, "home", "state"), uid, environment });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      errorType: "PERMISSION_DENIED",
      message: expect.stringContaining(why) as string,
      suggestion: expect.stringContaining(remedy) as string,
    });
    expect(String(error)).not.toContain(folder);
  });
});

const own = { minimum: "namespaces", mayLower: true } as const;
const agents = { minimum: "namespaces", mayLower: false } as const;

describe("the isolation that a request demands", () => {
  it.each([own, agents])("is the deployment's when it names none, and its own when that is stronger", (floor) => {
    expect(decideMinIsolation(undefined, floor)).toBe("namespaces");
    expect(decideMinIsolation("namespaces", floor)).toBe("namespaces");
    expect(decideMinIsolation("vm", floor)).toBe("vm");
  });

  it("may be weaker where the request is the person's own", () => {
    expect(decideMinIsolation("preload", own)).toBe("preload");
  });

  it("is never weaker at the word of an agent, who is told who can accept that", () => {
    expect(() => decideMinIsolation("preload", agents)).toThrow(
      expect.objectContaining({
        errorType: "POLICY_DENIED",
        suggestion: expect.stringContaining("--min-isolation preload"),
      }),
    );
  });
});
