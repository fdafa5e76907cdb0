import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Alert } from "../helpers/wire-glovebox.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

const workingDirectory = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
const at = (...names: string[]): string => path.join(workingDirectory, ...names);
const image = testImages.python;
const env_id = "setuid";
const attack = ["python3", "attack.py", "/workdir/out"];

beforeEach(() => {
  mkdirSync(at("project/out"), { recursive: true });
  copyFileSync(`${projectFolder}test/fixtures/programs/sets-setuid-bits.py`, at("project/attack.py"));
});
afterEach(() => rmSync(at("project"), { recursive: true }));

/** Files of the project that have the bit now. */
function setuidFiles(): readonly string[] {
  const names = readdirSync(at("project"), { recursive: true, encoding: "utf8" });
  return names.filter((name) => (lstatSync(at("project", name)).mode & 0o4000) !== 0);
}

describe.each(["docker", "podman"] as const)("setuid files in a project on %s", (engine) => {
  const glovebox = useGlovebox(engine, { workingDirectory });

  it("cannot be made by commands, background processes, visitors or copies, and setup commands only read it", async () => {
    const { environments, processes, live } = glovebox();
    const setup = [
      "sh",
      "-c",
      "cp /bin/cat /usr/bin/mine && chmod 4755 /usr/bin/mine && ! chmod 4755 /workdir/attack.py",
    ];
    const { sandbox_id } = await environments.create({
      image,
      project_root: "project",
      env_id,
      setup_commands: [setup],
    });
    try {
      const installed = await environments.runCommand({ env_id, command: ["stat", "-c", "%a", "/usr/bin/mine"] });
      expect(installed.stdout_tail, "installers may set it").toBe("4755\n");
      const copied = await environments.runCommand({
        env_id,
        command: ["cp", "-p", "/usr/bin/mine", "/workdir/out/copy"],
      });
      expect(copied.exit_code).toBe(1);
      const command = await environments.runCommand({ env_id, command: attack });
      expect(command).toMatchObject({ stdout_tail: "setgid kept\n", exit_code: 0 });
      rmSync(at("project/out"), { recursive: true });
      mkdirSync(at("project/out"));
      await processes.start({ env_id, command: attack });
      await until(async () => (await processes.list({ env_id })).processes.every(({ state }) => state === "exited"));
      expect(readdirSync(at("project/out"))).toContain("chmod");
      const visit = await live.exec({ sandbox_id, command: ["chmod", "4755", "/workdir/attack.py"] });
      expect(visit.exit_code).toBe(1);
      copyFileSync("/bin/cat", at("tool"));
      chmodSync(at("tool"), 0o4755);
      await live.copyIn({ source: "tool", sandbox_id, target: "/workdir/out" });
      expect(lstatSync(at("project/out/tool")).mode & 0o7777).toBe(0o755);
      expect(setuidFiles()).toEqual([]);
    } finally {
      await environments.destroy({ env_id });
    }
    expect(setuidFiles()).toEqual([]);
  });
});

describe("setuid files in a project under gVisor", () => {
  const alerts: Alert[] = [];
  const runtime = { oci_runtime: "runsc" } as const;
  const onAlert = (alert: Alert): void => void alerts.push(alert);
  const glovebox = useGlovebox("docker", { workingDirectory, onAlert }, runtime);
  const environment = { image, project_root: "project", env_id, read_only_root: true, ...runtime };

  // No program is root there.
  beforeEach(() => void execFileSync("chown", ["-R", "1000:1000", at("project")]));

  it("have lost the bit when their command has ended, and an alert reports it", async () => {
    const { environments } = glovebox();
    const { warnings, sandbox_id } = await environments.create(environment);
    try {
      expect(warnings.join("\n")).toContain("keeps setuid files out of the project by a watch over the project");
      const result = await environments.runCommand({ env_id, command: attack });
      expect(result.stdout_tail, "its kernel has no filter of ours").toContain("set by chmod\n");
      expect(setuidFiles()).toEqual([]);
      expect(readdirSync(at("project/out"))).toContain("chmod");
      expect(result.warnings).toContainEqual(expect.stringMatching(/^The setuid bit was taken of \d+ files/));
      const harmless = await environments.runCommand({ env_id, command: ["true"] });
      expect(harmless.warnings).toEqual([]);
    } finally {
      await environments.destroy({ env_id });
    }
    const told = alerts.filter(({ container_id: id, kind }) => id === sandbox_id && kind === "setuid_files");
    expect(told[0]).toMatchObject({ state: "start", message: expect.stringContaining("out/") });
    expect(told.at(-1)).toMatchObject({ state: "end" });
  });

  it("lose it while a background process goes on, and at the end of the environment", async () => {
    const { environments, processes } = glovebox();
    await environments.create(environment);
    try {
      const script = "cp /bin/cat out/cat; chmod 4755 out/cat; touch out/made; exec sleep 1000";
      await processes.start({ env_id, command: ["sh", "-c", script] });
      await until(() => existsSync(at("project/out/made")));
      await until(() => setuidFiles().length === 0);
      const again = "while :; do chmod 4755 out/cat; done";
      await processes.start({ env_id, command: ["sh", "-c", again] });
      await until(() => setuidFiles().length > 0);
    } finally {
      await environments.destroy({ env_id });
    }
    expect(setuidFiles()).toEqual([]);
  });

  it("do not matter if the project cannot be written", async () => {
    chmodSync(at("project/attack.py"), 0o4755);
    const { environments } = glovebox();
    await environments.create({ ...environment, read_only: true });
    await environments.runCommand({ env_id, command: ["true"] });
    await environments.destroy({ env_id });
    expect(setuidFiles()).toEqual(["attack.py"]);
  });
});
