import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createGlovebox, type Glovebox } from "../helpers/wire-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { skipOrFail } from "../helpers/require.ts";
import { TcpForwarder } from "../helpers/tcp-forwarder.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";

const registry = await PackageRegistry.start();
const long = `${"deep-folder/".repeat(12)}data.txt`;
const files = { "index.js": `module.exports = require("fs").readFileSync(__dirname + "/${long}", "utf8");\n` };
registry.addNpm({ name: "gb-deep", version: "1.0.0", files: { ...files, [long]: "found" } });
// Large enough for the copying to be visible.
registry.addNpm({
  name: "gb-big",
  version: "1.0.0",
  files: { "data.txt": randomBytes(60_000_000).toString("base64") },
});
registry.addWheel({ name: "gb_wheel", version: "1.0", files: { "gb_wheel/__init__.py": "answer = 42\n" } });
afterAll(() => registry[Symbol.dispose]());

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-elsewhere-")));
afterAll(() => execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]));

const doors = [
  { engine: "docker", variable: "DOCKER_HOST", socket: "/var/run/docker.sock" },
  { engine: "podman", variable: "CONTAINER_HOST", socket: "/run/podman/podman.sock" },
] as const;

describe.each(doors)("packages on $engine, reached over TCP, which shares no files with this machine,", (door) => {
  const { engine, variable } = door;
  const given = process.env[variable];
  let forwarder: TcpForwarder;
  let glovebox: Glovebox;
  let problem: string | null = null;

  beforeAll(async () => {
    forwarder = await TcpForwarder.to(/^unix:\/\/(.*)$/.exec(given ?? "")?.[1] ?? door.socket);
    process.env[variable] = `tcp://127.0.0.1:${forwarder.port}`;
    const settings = {
      images: { ...testImages, ...sessionImages },
      network: registry.network,
      packages: { directory: folder },
    };
    glovebox = await createGlovebox({ engine, settings });
    const trial = await glovebox.execute({ language: "python", code: "pass" }).catch((error: unknown) => error);
    problem = trial instanceof Error ? trial.message : null;
  });
  beforeEach((context) => {
    if (problem !== null) skipOrFail(context, engine, problem);
  });
  afterAll(async () => {
    await glovebox.close();
    forwarder[Symbol.dispose]();
    if (given === undefined) Reflect.deleteProperty(process.env, variable);
    else process.env[variable] = given;
  });

  /** Asks the engine through its own socket, bypassing what is tested. */
  function ask(...args: readonly string[]): string {
    const environment = { ...process.env, [variable]: given };
    return execFileSync(engine, args, { encoding: "utf8", env: environment });
  }
  /** Volumes that contain a package of these tests. */
  function volumes(): readonly string[] {
    const names = ask("volume", "ls", "--quiet").split("\n").filter(Boolean);
    return names.filter((name) => {
      try {
        const place = ask("volume", "inspect", "--format", "{{.Mountpoint}}", name).trim();
        return ["gb-deep", "gb-big", "gb_wheel"].some((each) => existsSync(path.join(place, each)));
      } catch {
        // Removed meanwhile.
        return false;
      }
    });
  }

  it("are copied there, for JavaScript and for Python", async () => {
    const javascript = await glovebox.execute({
      language: "javascript",
      code: 'console.log(require("gb-deep"))',
      packages: ["gb-deep"],
    });
    expect(javascript.stdout, javascript.stderr).toBe("found\n");
    const python = await glovebox.execute({
      language: "python",
      code: "import gb_wheel; print(gb_wheel.answer)",
      packages: ["gb-wheel"],
    });
    expect(python.stdout, python.stderr).toBe("42\n");
    expect(python.packages_installed).toEqual(["gb_wheel==1.0"]);
    await expect.poll(volumes).toEqual([]);
  });

  it("cannot be changed by a program", async () => {
    const code = `
const fs = require("node:fs");
const file = require.resolve("gb-deep");
const tried = [
  () => fs.writeFileSync(file, ""), () => fs.chmodSync(file, 0o777), () => fs.unlinkSync(file),
  () => fs.writeFileSync("/node_modules/new.js", ""), () => fs.mkdirSync("/node_modules/gb-deep/new"),
].map((work) => { try { work(); return "DONE"; } catch (error) { return error.code; } });
console.log([...new Set(tried)].join(), fs.readFileSync("/proc/self/mounts", "utf8").split("\\n")
  .find((line) => line.split(" ")[1] === "/node_modules").split(" ")[3].split(",")[0]);`;
    const { stdout, stderr } = await glovebox.execute({ language: "javascript", code, packages: ["gb-deep"] });
    expect(stdout, stderr).toBe("EROFS ro\n");
  });

  it("last as long as their session, and leave nothing there", async () => {
    const first = await glovebox.runCode({ code: 'import deep from "gb-deep"; console.log(deep as string)' });
    expect(first.stdout, first.stderr).toBe("found\n");
    expect(volumes()).toHaveLength(1);
    const filter = `label=glovebox.sandbox=${first.container_id}`;
    const containers = ask("ps", "--all", "--filter", filter, "--format", "{{.ID}}").trim().split("\n");
    expect(containers).toHaveLength(1);
    const mounts = JSON.parse(ask("inspect", "--format", "{{json .Mounts}}", ...containers)) as unknown;
    const destinations = (mounts as { Type: string; RW: boolean; Destination: string }[])
      .filter(({ Type, RW }) => Type === "volume" && !RW)
      .map(({ Destination }) => Destination);
    expect(destinations.toSorted()).toEqual(["/.glovebox", "/node_modules"]);
    await glovebox.endSession({ session_id: first.session_id });
    await expect.poll(volumes).toEqual([]);
  });

  it("leave nothing there when the call is cancelled while they are copied", async () => {
    const request = { language: "javascript", code: "1", packages: ["gb-big"] } as const;
    await glovebox.execute({ ...request, packages: [...request.packages] });
    const holders = (): string => ask("ps", "--all", "--quiet", "--filter", "name=-folders$").trim();
    const giveUp = new AbortController();
    const given = glovebox.execute({ ...request, packages: [...request.packages] }, { signal: giveUp.signal });
    given.catch(() => undefined);
    await expect.poll(holders, { interval: 20, timeout: 20_000 }).not.toBe("");
    giveUp.abort();
    await expect(given).rejects.toMatchObject({ errorType: "CANCELLED" });
    await expect.poll(holders).toBe("");
    await expect.poll(volumes).toEqual([]);
  });

  it("are all that is copied: a project is refused, as it would be another machine's folder", async () => {
    await expect(
      glovebox.environments.create({ project_root: process.cwd(), image: testImages.python }),
    ).rejects.toMatchObject({
      errorType: "UNSUPPORTED",
      context: { missing: "hostPaths" },
    });
  });
});
