import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { blockedPatterns } from "../../policy/mounts/blocked-pattern.ts";
import type { MountPolicy } from "../../policy/mounts/mount-policy.ts";
import { openAgentFolders, agentMounts, assertMayBeMounted, type AgentGroup } from "./agent-folders.ts";
import { mountSpecs } from "../run/host-mount.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  mkdirSync(at("groups", "family"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

const paths = (): Parameters<typeof openAgentFolders>[0] => ({
  directory: folder,
  project: folder,
  mainWorkspace: at("nano"),
  farmState: null,
  dashboard: null,
});
const family: AgentGroup = { name: "family", isMain: false, isConfigured: false };
const main: AgentGroup = { name: "main", isMain: true, isConfigured: false };

async function targets(group: AgentGroup, more = {}): Promise<Record<string, [string, string]>> {
  await using folders = await openAgentFolders({ ...paths(), ...more }, group, process.platform);
  const specs = await mountSpecs(agentMounts(folders, group.name));
  return Object.fromEntries(
    specs.map(({ source, target, readOnly }) => [
      target,
      [path.relative(folder, source), readOnly ? "read-only" : "read-write"],
    ]),
  );
}

describe("the mounts of a group", () => {
  const own = (name: string): Record<string, [string, string]> => ({
    "/home/node/.pi": [`data/pi/${name}/.pi`, "read-write"],
    "/workspace/ipc": [`data/ipc/${name}`, "read-write"],
  });

  it("are its own folders alone", async () => {
    expect(await targets(family)).toEqual({ "/workspace/group": ["groups/family", "read-write"], ...own("family") });
  });

  it("have what all groups share, read-only, when it is there", async () => {
    mkdirSync(at("groups", "global"));
    expect(await targets(family)).toMatchObject({ "/workspace/global": ["groups/global", "read-only"] });
    expect(Object.keys(await targets(main))).not.toContain("/workspace/global");
  });

  it("have the project and its own workspace for the main group", async () => {
    expect(await targets(main)).toEqual({
      "/workspace/project": ["", "read-write"],
      "/workspace/group": ["nano", "read-write"],
      ...own("main"),
    });
  });

  it("have the farm's state and the dashboard where they are configured", async () => {
    mkdirSync(at("farm"));
    expect(await targets(family, { farmState: at("farm"), dashboard: at("farm") })).toMatchObject({
      "/workspace/farm-state": ["farm", "read-write"],
      "/workspace/dashboard": ["farm", "read-write"],
    });
  });
});

describe("openAgentFolders", () => {
  it("knows groups by their folders or the configuration, and makes nothing for others", async () => {
    const stranger = { ...family, name: "stranger" };
    await expect(targets(stranger)).rejects.toMatchObject({ errorType: "NOT_FOUND", context: { field: "group" } });
    expect(await targets({ ...stranger, isConfigured: true })).toMatchObject({
      "/workspace/group": ["groups/stranger", "read-write"],
    });
    rmSync(at("groups"), { recursive: true });
    await expect(targets(family)).rejects.toMatchObject({ errorType: "NOT_FOUND" });
  });

  it.each([
    ["groups/family", "/etc"],
    ["groups/family", "other"],
    ["groups/family/logs", "../../other/logs"],
    ["groups/global", "/etc"],
    ["data/pi/family/.pi", "../../../groups/other"],
    ["data/pi/family", "other"],
    ["data/pi", "/etc"],
    ["data/ipc/family", "other"],
    ["data", "groups"],
  ])("refuses a link at %s", async (name, leadsTo) => {
    mkdirSync(at("groups", "other", "logs"), { recursive: true });
    rmSync(at(name), { recursive: true, force: true });
    mkdirSync(path.dirname(at(name)), { recursive: true });
    symlinkSync(leadsTo, at(name));
    await expect(targets(family)).rejects.toMatchObject({
      errorType: expect.stringMatching("POLICY_DENIED|NOT_FOUND"),
    });
  });

  it("names the key of a configured folder that cannot be used", async () => {
    for (const key of ["directory", "project", "farmState"] as const) {
      await expect(targets(main, { [key]: at("nowhere") })).rejects.toThrow(/agents\.(directory|project|farm_state): /);
    }
  });

  it("holds its folders, wherever they are moved meanwhile", async () => {
    await using folders = await openAgentFolders(paths(), family, process.platform);
    renameSync(at("groups", "family"), at("groups", "gone"));
    expect(await folders.workspace.isStillThere()).toBe(false);
  });
});

describe("assertMayBeMounted", () => {
  const policy: MountPolicy = {
    roots: [],
    blockedPatterns: blockedPatterns([]),
    protectedPlaces: [],
    nonMainReadOnly: true,
    hasAllowlist: false,
    projectsSetting: "GLOVEBOX_PROJECT_ROOTS",
  };

  async function judge(changed: Partial<MountPolicy>): Promise<void> {
    await using folders = await openAgentFolders(paths(), main, process.platform);
    for (const mount of agentMounts(folders, "main")) assertMayBeMounted({ ...policy, ...changed }, mount);
  }

  it("takes what the operator has chosen", async () => {
    await expect(judge({})).resolves.toBeUndefined();
  });

  it("refuses a folder that holds what no sandbox may have, and one beyond the caller's key", async () => {
    const socket = { path: at("run", "docker.sock"), what: "an engine's socket" };
    await expect(judge({ protectedPlaces: [socket] })).rejects.toThrow("agents.project");
    await expect(judge({ within: [at("nano")] })).rejects.toThrow("agents.project");
    await expect(judge({ blockedPatterns: blockedPatterns(["nano"]) })).rejects.toThrow("agents.main_workspace");
  });
});
