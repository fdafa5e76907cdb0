import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGlovebox, type CheckMountResponse, type ListMountsResponse } from "../helpers/wire-glovebox.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { runCommand, type CommandResult } from "../helpers/run-command.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
const project = (...names: string[]): string => at("project", ...names);
const home = (): Record<string, string> => ({ HOME: at("home"), XDG_CONFIG_HOME: "", XDG_STATE_HOME: at("state") });

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  for (const name of ["project/data", "project/keys/.ssh", "outside", "extra/in", "home"]) {
    mkdirSync(at(name), { recursive: true });
  }
  writeFileSync(project("data", "a.txt"), "inside");
  writeFileSync(project(".env"), "KEY=private");
  writeFileSync(project("keys", ".ssh", "config"), "Host private");
  writeFileSync(at("outside", "a.txt"), "private");
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeAllowlist(content: unknown, file = at("home", ".config", "glovebox", "mount-allowlist.json")): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
}

const mounts = (argv: readonly string[], environment = {}): Promise<CommandResult> =>
  runCommand(["mounts", ...argv], { cwd: project(), environment: { ...home(), ...environment } });

async function check(...argv: string[]): Promise<CheckMountResponse["verdicts"][number] & { exitCode: number | null }> {
  const { stdout, stderr, exitCode } = await mounts(["check", "--json", ...argv]);
  expect(stderr).toBe("");
  const { verdicts } = JSON.parse(stdout) as CheckMountResponse;
  expect(verdicts).toHaveLength(1);
  return { ...verdicts[0]!, exitCode };
}

describe("glovebox mounts check", () => {
  it("explains a verdict for people, for both uses", async () => {
    writeAllowlist({ allowedRoots: [{ path: at("extra"), allowReadWrite: true }] });
    const allowed = await mounts(["check", at("extra", "in"), "--main", "--target", "nested/x"]);
    expect(allowed).toMatchObject({ exitCode: 0, stderr: "" });
    expect(allowed.stdout).toContain("As an additional mount: allowed, read-write");
    expect(allowed.stdout).toMatch(/rule: +allowed-root/);
    expect(allowed.stdout).toMatch(/target: +\/workspace\/extra\/nested\/x/);
    expect(allowed.stdout).toContain(`${at("extra")} (allowedRoots[0])`);
    symlinkSync(at("outside"), project("link"));
    const refused = await mounts(["check", "link"]);
    expect(refused).toMatchObject({ exitCode: 1, stderr: "" });
    expect(refused.stdout).toContain(`real path:  ${at("outside")} (folder)`);
    expect(refused.stdout).toMatch(/rule: +outside-roots/);
    expect(refused.stdout).toMatch(/allowed by: .*allowedRoots/);
  });

  it.each([
    ["data", [], 0, { allowed: true, read_only: false, rule: "working-directory" }],
    ["data", ["--read-only"], 0, { allowed: true, read_only: true, rule: "working-directory" }],
    [".", [], 0, { allowed: true, rule: "working-directory" }],
    ["data/../data/./a.txt", [], 0, { allowed: true }],
    ["..", [], 1, { allowed: false, rule: "outside-roots" }],
    ["data/../../outside", [], 1, { allowed: false, rule: "outside-roots" }],
    ["/", [], 1, { allowed: false, rule: "outside-roots" }],
    ["/proc/self/root/etc", [], 1, { allowed: false, rule: "outside-roots" }],
    [".env", [], 1, { allowed: false, rule: "blocked-pattern", pattern: ".env" }],
    ["keys/.ssh", [], 1, { allowed: false, rule: "blocked-pattern", pattern: ".ssh" }],
    ["keys/.ssh/config", [], 1, { allowed: false, rule: "blocked-pattern", pattern: ".ssh" }],
    ["nowhere", [], 1, { allowed: false, rule: "missing" }],
  ] as const)("%s %j as a project: exit code %d", async (given, options, exitCode, verdict) => {
    expect(await check(given, "--as", "project", ...options)).toMatchObject({ exitCode, ...verdict });
  });

  it("blocks names in any case and Unicode form, in any component", async () => {
    for (const name of [".SSH", ".Env", ".\u017fsh", "CREDENTIALS", "Id_RSA.bak", "My-Secrets", "docker.SOCK"]) {
      mkdirSync(project("odd", name, "deep"), { recursive: true });
      const verdict = await check(path.join("odd", name, "deep"), "--as", "project");
      expect([name, verdict.rule]).toEqual([name, name === "My-Secrets" ? "working-directory" : "blocked-pattern"]);
    }
  });

  it("gives additional mounts what the allowlist gives, and no more", async () => {
    expect(await check(at("extra", "in"), "--as", "additional")).toMatchObject({ exitCode: 1, rule: "no-allowlist" });
    writeAllowlist({
      allowedRoots: [{ path: at("extra"), allowReadWrite: true }, { path: at("outside") }],
      blockedPatterns: ["draft"],
    });
    mkdirSync(at("extra", "old-drafts"));
    const additional = (...argv: string[]): ReturnType<typeof check> => check("--as", "additional", ...argv);
    expect(await additional(at("extra", "in"), "--main")).toMatchObject({ exitCode: 0, read_only: false });
    expect(await additional(at("extra", "in"))).toMatchObject({ exitCode: 0, rule: "non-main-read-only" });
    expect(await additional(at("extra", "in"), "--read-write")).toMatchObject({ exitCode: 1, read_only: true });
    expect(await additional(at("outside"), "--main")).toMatchObject({ exitCode: 0, rule: "read-only-root" });
    expect(await additional(at("extra", "old-drafts"))).toMatchObject({ exitCode: 1, pattern: "draft" });
    expect(await additional("data")).toMatchObject({ exitCode: 1, rule: "outside-roots" });
    expect(await additional(at("extra", "in"), "--target", "../x")).toMatchObject({ exitCode: 1, rule: "bad-target" });
    expect(await additional(at("extra", "in"), "--target", "/x")).toMatchObject({ exitCode: 1, rule: "bad-target" });
  });

  it("refuses a home directory that holds keys, and what Glovebox keeps there", async () => {
    mkdirSync(at("home", ".ssh"));
    const inHome = (...argv: string[]): Promise<CommandResult> =>
      runCommand(["mounts", "check", "--as", "project", ...argv], { cwd: at("home"), environment: home() });
    expect((await inHome(".")).stdout).toMatch(/rule: +protected-place/);
    mkdirSync(at("home", "app"));
    expect((await inHome("app")).exitCode).toBe(0);
    writeAllowlist({ allowedRoots: [] });
    expect((await inHome(".config")).stdout).toMatch(/rule: +protected-place/);
    expect((await inHome(".config/glovebox/mount-allowlist.json")).stdout).toMatch(/rule: +protected-place/);
  });

  it("reads the allowlist of FFT_nano, and says so", async () => {
    writeAllowlist(
      { allowedRoots: [{ path: at("extra") }] },
      at("home", ".config", "fft_nano", "mount-allowlist.json"),
    );
    const result = await mounts(["check", at("extra", "in")]);
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(result.stdout).toContain("note: There is no mount allowlist for Glovebox");
  });

  it.each([
    ["one inside a root", { allowedRoots: [{ path: "~" }] }, "lies inside allowedRoots[0]"],
    ["a relative root", { allowedRoots: [{ path: "extra" }] }, "allowedRoots[0].path: expected an absolute path"],
    ["an unknown field", { allowedRoot: [] }, "allowedRoot: unknown field (did you mean allowedRoots?)"],
    ["/ as a root", { allowedRoots: [{ path: "/" }] }, "whole file system"],
  ])("refuses a bad allowlist: %s", async (_, content, words) => {
    writeAllowlist(content);
    const result = await mounts(["check", "data"]);
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(result.stderr).toContain(words);
    expect(result.stderr).not.toContain(folder);
  });

  it("refuses an allowlist that others may change, for everything that needs the gate", async () => {
    writeAllowlist({ allowedRoots: [] });
    chmodSync(at("home", ".config", "glovebox", "mount-allowlist.json"), 0o666);
    const argv = ["run", "--engine", "local", "--file", "data/a.txt", "-c", "pass"];
    for (const result of [
      await mounts(["check", "data"]),
      await runCommand(argv, { cwd: project(), environment: home() }),
    ]) {
      expect(result.exitCode).toBe(2);
      expect(result.stderr).toContain("can be changed by other users");
    }
  });

  it("gives a run's --file from outside the folder where a root allows it, of any size, and nothing else", async () => {
    writeFileSync(at("extra", "in", "large.bin"), "");
    truncateSync(at("extra", "in", "large.bin"), 17 * 1024 * 1024);
    const code = "import os; print(os.path.getsize('in/large.bin'))";
    const run = (file: string): Promise<CommandResult> =>
      runCommand(["run", "--engine", "local", "--file", file, "-c", code], { cwd: project(), environment: home() });
    const none = await run("../extra/in/large.bin");
    expect(none).toMatchObject({ exitCode: 2, stdout: "" });
    expect(none.stderr).toContain('--file: "../extra/in/large.bin" is refused by the rule outside-roots.');
    expect(none.stderr).toContain("glovebox mounts list");
    writeAllowlist({ allowedRoots: [{ path: at("extra"), allowReadWrite: false }] });
    for (const file of ["../extra/in/large.bin", at("extra", "in", "large.bin")]) {
      expect(await run(file)).toMatchObject({ exitCode: 0, stdout: "17825792\n" });
    }
    expect(await run("../outside/a.txt")).toMatchObject({ exitCode: 2, stdout: "" });
  });

  it("refuses wrong usage", async () => {
    expect((await mounts(["check", "data", "--as", "root"])).stderr).toContain("--as");
    expect((await mounts(["check", "data", "--read-only", "--read-write"])).exitCode).toBe(2);
    expect((await mounts(["check"])).exitCode).toBe(2);
    expect((await mounts(["check", "x"], { GLOVEBOX_PROJECT_ROOTS: "relative" })).stderr).toContain("project_roots");
  });

  it("takes the configured roots in place of the working directory", async () => {
    const environment = { GLOVEBOX_PROJECT_ROOTS: `${at("outside")},${at("extra")}` };
    expect((await mounts(["check", "data", "--as", "project"], environment)).stdout).toContain("outside-roots");
    expect((await mounts(["check", at("outside"), "--as", "project"], environment)).stdout).toMatch(
      /rule: +project-root/,
    );
  });
});

describe("glovebox mounts list", () => {
  it("shows the allowlist, roots, patterns and places", async () => {
    writeAllowlist({
      allowedRoots: [{ path: at("extra"), allowReadWrite: true, description: "Extras" }, { path: at("gone") }],
      blockedPatterns: ["draft"],
    });
    const text = await mounts(["list"]);
    expect(text).toMatchObject({ exitCode: 0, stderr: "" });
    expect(text.stdout).toContain(at("home", ".config", "glovebox", "mount-allowlist.json"));
    expect(text.stdout).toMatch(/extra +read-write +allowedRoots\[0\] +Extras/);
    expect(text.stdout).toMatch(/gone \(missing\) +read-only +allowedRoots\[1\]/);
    const list = JSON.parse((await mounts(["list", "--json"])).stdout) as ListMountsResponse;
    expect(list.blocked_patterns).toContainEqual({ pattern: "draft", what: null });
    expect(list.blocked_patterns).toContainEqual({ pattern: ".ssh", what: "SSH keys and settings" });
    expect(list.roots.map((root) => root.exists)).toEqual([true, true, false]);
    expect(list.protected_places.map((place) => place.path)).toContain(at("home", ".config", "glovebox"));
  });

  it("says where it looked when there is none", async () => {
    expect((await mounts(["list"])).stdout).toContain("Mount allowlist: none (looked for ");
  });
});

describe("context files", () => {
  const request = { language: "python", code: "pass" } as const;
  const refusalOf = async (given: string, type: "INVALID_REQUEST" | "POLICY_DENIED"): Promise<string> => {
    await using glovebox = await createGlovebox({ engine: "local", workingDirectory: project() });
    const error = await failureOf(glovebox.execute({ ...request, context_files: ["data/a.txt", given] }), type);
    expect(error.context["field"]).toBe("context_files[1]");
    expect(JSON.stringify(error.toWire())).not.toContain(folder);
    return error.message;
  };

  it.each([
    [".env", "POLICY_DENIED", "blocked-pattern"],
    ["keys/.ssh/config", "POLICY_DENIED", "blocked-pattern"],
    ["innocent.txt", "POLICY_DENIED", "blocked-pattern"],
    ["out.txt", "INVALID_REQUEST", "outside-roots"],
    ["away/a.txt", "INVALID_REQUEST", "outside-roots"],
    ["../outside/a.txt", "INVALID_REQUEST", "outside-roots"],
    ["data", "INVALID_REQUEST", "name the files of a folder one by one"],
  ] as const)("%s is %s: %s", async (given, type, words) => {
    symlinkSync(".env", project("innocent.txt"));
    symlinkSync("../outside/a.txt", project("out.txt"));
    symlinkSync("../outside", project("away"));
    expect(await refusalOf(given, type)).toContain(words);
  });

  it("a hard link is the file it names, and cannot be distinguished from it", async () => {
    linkSync(at("outside", "a.txt"), project("hard.txt"));
    expect(await check("hard.txt", "--as", "project")).toMatchObject({ allowed: true });
  });

  it.runIf(process.getuid?.() === 0 && process.platform === "linux")("one that cannot be read is said so", async () => {
    chmodSync(folder, 0o755);
    chmodSync(project("data", "a.txt"), 0);
    const code = `
      const { createGlovebox } = await import(process.argv[1]);
      process.setgid(65534); process.setuid(65534);
      await using glovebox = await createGlovebox({ engine: "local" });
      const error = await glovebox.execute({ language: "python", code: "pass", contextFiles: ["data/a.txt"] }).catch((e) => e);
      console.log(error.errorType, error.message);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code, path.resolve("src/index.ts")], {
      cwd: project(),
      env: { ...process.env, ...home() },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [output] = (await once(child.stdout, "data")) as [Buffer];
    expect(output.toString()).toMatch(/^INVALID_REQUEST contextFiles\[0\]: expected a file that can be read/);
  });
});
