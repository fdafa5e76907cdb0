import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { protectedBy } from "../policy/mounts/mount-policy.ts";
import { loadMountPolicy, type LoadedMountPolicy, type MountSources } from "./load-mount-policy.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
const ours = (): string => at("home", ".config", "glovebox", "mount-allowlist.json");
const theirs = (): string => at("home", ".config", "fft_nano", "mount-allowlist.json");

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  for (const name of ["home/app", "data", "docs", "lists"]) mkdirSync(at(name), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(file: string, content: unknown): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content), { mode: 0o600 });
}

interface Changes extends Partial<MountSources["config"]> {
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  readonly server?: boolean;
}

function load({
  environment = {},
  workingDirectory,
  server = false,
  ...config
}: Changes = {}): Promise<LoadedMountPolicy> {
  return loadMountPolicy({
    config: {
      mountAllowlist: null,
      keysFile: null,
      projectRoots: null,
      engineEnvironment: {},
      packages: { directory: "~/.glovebox/packages" },
      ...config,
    },
    host: {
      platform: process.platform,
      uid: process.getuid?.() ?? null,
      environment,
      homeDirectory: at("home"),
      workingDirectory: workingDirectory ?? at("home", "app"),
      stateDirectory: at("home", ".local", "state", "glovebox"),
      temporaryDirectory: at("tmp"),
    },
    workingDirectoryIsRoot: !server,
    projectsSetting: "GLOVEBOX_PROJECT_ROOTS",
  });
}

const rootsOf = async (changes?: Changes): Promise<unknown> =>
  (await load(changes)).policy.roots.map((root) => [root.listedAs, root.path, root.allowReadWrite]);
const refused = (words: string): unknown =>
  expect.objectContaining({ errorType: "INVALID_REQUEST", message: expect.stringContaining(words) });

describe("roots", () => {
  it("without any file: the working directory on the user's own machine, none for a server", async () => {
    expect(await rootsOf()).toEqual([["the working directory", at("home", "app"), true]]);
    expect(await rootsOf({ server: true })).toEqual([]);
    expect((await load()).policy).toMatchObject({ hasAllowlist: false, nonMainReadOnly: true });
  });

  it("configured ones in place of the working directory, real and with ~ for the home", async () => {
    symlinkSync(at("data"), at("link"));
    const projectRoots = ["~/app", at("link"), at("gone")];
    for (const server of [true, false]) {
      expect(await rootsOf({ projectRoots, server })).toEqual([
        ["project_roots[0]", at("home", "app"), true],
        ["project_roots[1]", at("data"), true],
      ]);
    }
    expect((await load({ projectRoots })).missingRoots).toMatchObject([{ listedAs: "project_roots[2]" }]);
    expect(await rootsOf({ projectRoots: [] })).toEqual([]);
  });

  it("those of the allowlist beside them", async () => {
    write(ours(), { allowedRoots: [{ path: at("data"), allowReadWrite: true }, { path: at("docs") }] });
    expect(await rootsOf()).toEqual([
      ["allowedRoots[0]", at("data"), true],
      ["allowedRoots[1]", at("docs"), false],
      ["the working directory", at("home", "app"), true],
    ]);
  });

  it("never the whole file system: refused when listed, left out when it is the working directory", async () => {
    expect(await rootsOf({ workingDirectory: "/" })).toEqual([]);
    await expect(load({ projectRoots: ["/"] })).rejects.toEqual(refused("project_roots[0]"));
    await expect(load({ projectRoots: ["/data/.."] })).rejects.toEqual(refused("whole file system"));
    write(ours(), { allowedRoots: [{ path: "/" }] });
    await expect(load()).rejects.toEqual(refused("allowedRoots[0]: the whole file system"));
  });
});

describe("the allowlist file", () => {
  it("is the configured one, else ours, else FFT_nano's with a notice", async () => {
    write(theirs(), { allowedRoots: [], blockedPatterns: ["theirs"] });
    const loaded = await load();
    expect(loaded).toMatchObject({ allowlist: { origin: "fft_nano", path: theirs() }, lookedFor: [ours(), theirs()] });
    expect(loaded.notices).toHaveLength(1);
    write(ours(), { allowedRoots: [] });
    expect(await load()).toMatchObject({ allowlist: { origin: "default", path: ours() }, notices: [] });
    write(at("lists", "l.json"), { allowedRoots: [], nonMainReadOnly: false });
    const configured = await load({ mountAllowlist: at("lists", "l.json") });
    expect(configured).toMatchObject({ allowlist: { origin: "configured" }, policy: { nonMainReadOnly: false } });
    expect(configured.lookedFor).toEqual([at("lists", "l.json")]);
  });

  it("stands below XDG_CONFIG_HOME where that is set", async () => {
    write(at("xdg", "glovebox", "mount-allowlist.json"), { allowedRoots: [] });
    expect(await load({ environment: { XDG_CONFIG_HOME: at("xdg") } })).toMatchObject({
      allowlist: { path: at("xdg", "glovebox", "mount-allowlist.json") },
    });
  });

  it("counts as it is at this moment", async () => {
    write(ours(), { allowedRoots: [{ path: at("data") }] });
    expect((await load()).policy.roots).toHaveLength(2);
    write(ours(), { allowedRoots: [] });
    expect((await load()).policy.roots).toHaveLength(1);
  });

  it("must exist when it is configured, and ours is not passed over when it is bad", async () => {
    await expect(load({ mountAllowlist: at("gone.json") })).rejects.toEqual(refused("does not exist"));
    write(theirs(), { allowedRoots: [] });
    write(ours(), "{");
    await expect(load()).rejects.toEqual(refused("The mount allowlist is not JSON: error at line 1"));
    rmSync(ours());
    mkdirSync(ours());
    await expect(load()).rejects.toEqual(refused("not a regular file"));
  });

  it.each([
    ["the group", 0o620],
    ["everybody", 0o602],
    ["everybody", 0o666],
  ])("is refused when %s may write it (%o)", async (_, mode) => {
    write(ours(), { allowedRoots: [] });
    chmodSync(ours(), mode);
    await expect(load()).rejects.toEqual(refused("can be changed by other users"));
    chmodSync(ours(), 0o644);
    expect((await load()).allowlist).not.toBeNull();
  });

  it("is refused when others may replace it, unless the folder is sticky", async () => {
    write(ours(), { allowedRoots: [] });
    chmodSync(path.dirname(ours()), 0o777);
    await expect(load()).rejects.toEqual(refused("The folder of the mount allowlist"));
    chmodSync(path.dirname(ours()), 0o1777);
    expect((await load()).allowlist).not.toBeNull();
  });

  it.runIf(process.getuid?.() === 0)("is refused when it is another user's", async () => {
    write(ours(), { allowedRoots: [] });
    chownSync(ours(), 12_345, 12_345);
    await expect(load()).rejects.toEqual(refused("belongs to another user"));
  });

  it("must not lie inside a listed root, nor may what a link to it leads to, nor the link", async () => {
    write(ours(), { allowedRoots: [{ path: at("docs") }, { path: "~" }] });
    await expect(load()).rejects.toEqual(refused("lies inside allowedRoots[1]"));
    write(ours(), { allowedRoots: [] });
    await expect(load({ projectRoots: ["~/.config"] })).rejects.toEqual(refused("lies inside project_roots[0]"));
    write(at("data", "l.json"), { allowedRoots: [{ path: at("data") }] });
    symlinkSync(at("data", "l.json"), at("lists", "link.json"));
    await expect(load({ mountAllowlist: at("lists", "link.json") })).rejects.toEqual(refused("allowedRoots[0]"));
    write(at("data", "l.json"), { allowedRoots: [{ path: at("lists") }] });
    await expect(load({ mountAllowlist: at("lists", "link.json") })).rejects.toEqual(refused("allowedRoots[0]"));
    symlinkSync(at("lists"), at("way"));
    write(at("lists", "l.json"), { allowedRoots: [{ path: at("way") }] });
    await expect(load({ mountAllowlist: at("lists", "l.json") })).rejects.toEqual(refused("allowedRoots[0]"));
  });

  it("says so without a path of the host", async () => {
    write(ours(), { allowedRoots: [{ path: "~" }] });
    await expect(load()).rejects.not.toThrow(folder);
    await expect(load({ mountAllowlist: at("gone.json") })).rejects.not.toThrow(folder);
  });
});

describe("protected places", () => {
  it("are Glovebox's own files, there or not, and every folder that holds one", async () => {
    write(at("lists", "l.json"), { allowedRoots: [] });
    const { policy } = await load({
      mountAllowlist: at("lists", "l.json"),
      environment: { GLOVEBOX_CONFIG: at("lists", "config.json") },
    });
    for (const kept of [
      "lists/l.json",
      "lists/config.json",
      "lists",
      "home",
      "home/.config",
      "home/.config/glovebox/x",
    ]) {
      expect([kept, protectedBy(policy, at(kept))?.path]).not.toEqual([kept, undefined]);
    }
    expect(protectedBy(policy, at("home", ".local", "state", "glovebox", "leases"))?.what).toContain("records");
    expect(protectedBy(policy, at("home", ".glovebox", "packages", "sets"))?.what).toContain("installed packages");
    expect(protectedBy(policy, at("home", "app"))).toBeUndefined();
    expect(protectedBy(policy, at("data"))).toBeUndefined();
  });

  it("are the link to the allowlist and what it leads to", async () => {
    write(at("data", "l.json"), { allowedRoots: [] });
    symlinkSync(at("data", "l.json"), at("lists", "link.json"));
    const { policy } = await load({ mountAllowlist: at("lists", "link.json") });
    expect(protectedBy(policy, at("data"))).toBeDefined();
    expect(protectedBy(policy, at("lists"))).toBeDefined();
  });

  it("are the secrets of the home directory and the engines' sockets that exist", async () => {
    const engineEnvironment = { DOCKER_HOST: `unix://${at("data", "d.sock")}`, XDG_RUNTIME_DIR: at("docs") };
    const before = (await load({ engineEnvironment, workingDirectory: at("data") })).policy;
    expect(protectedBy(before, at("data"))).toBeUndefined();
    writeFileSync(at("data", "d.sock"), "");
    mkdirSync(at("docs", "podman"));
    writeFileSync(at("docs", "podman", "podman.sock"), "");
    mkdirSync(at("home", ".ssh"));
    const { policy } = await load({ engineEnvironment });
    expect(protectedBy(policy, at("data"))?.what).toBe("a container engine's socket");
    expect(protectedBy(policy, at("docs"))?.what).toBe("a container engine's socket");
    expect(protectedBy(policy, at("home", ".ssh", "id"))?.what).toBe(".ssh of the home directory");
  });

  it.runIf(process.platform === "linux")("are the kernel's own files", async () => {
    const { policy } = await load();
    for (const place of ["/proc/self/environ", "/sys/kernel", "/proc", "/dev", "/etc"]) {
      expect([place, protectedBy(policy, place)?.path]).not.toEqual([place, undefined]);
    }
    expect(protectedBy(policy, "/etc/hosts")).toBeUndefined();
  });
});
