import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { mebibyte } from "../../base/bytes.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { Container } from "../engine.ts";
import { settlesWithin } from "../../base/abort.ts";
import { AppleEngine } from "./apple-engine.ts";
import { ContainerCommand, deadlinesMs, type Deadline } from "./container-command.ts";
import { ApplePlace } from "./apple-place.ts";

const up = `version='container CLI version 1.2.2 (build: release, commit: 0190097)'
status='{"status":"running"}'`;
const invalid = `echo 'Error: interrupted: "XPC connection error: Connection invalid"' >&2; exit 1`;
const folders: string[] = [];

/** An engine whose command is a script; `lines` come before its usual answers. */
async function engineWith(lines: string, deadlines: Partial<Record<Deadline, number>> = {}): Promise<AppleEngine> {
  const folder = await mkdtemp(path.join(tmpdir(), "apple-engine-"));
  folders.push(folder);
  const script = `#!/bin/sh\n${up}\n${lines}\ncase "$1 $2" in --version*) echo "$version" ;; "system status") echo "$status" ;; *) echo '[]' ;; esac\n`;
  await writeFile(path.join(folder, "container"), script);
  await chmod(path.join(folder, "container"), 0o755);
  const environment = { PATH: `${folder}:/usr/bin:/bin`, TMPDIR: folder };
  return new AppleEngine({ environment, architecture: "arm64", deadlines: { ...deadlinesMs, ...deadlines } });
}

const spec: ContainerSpec = {
  name: "sb-1",
  image: "alpine:3",
  labels: {},
  limits: { cpus: 1, memoryBytes: 512 * mebibyte, pids: 64 },
  scratch: [],
};

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});

describe.skipIf(process.platform === "win32")("Apple's engine", () => {
  it("tells its version and what it can enforce", async () => {
    const probe = await (await engineWith("")).probe();
    expect(probe).toMatchObject({ available: true, version: "1.2.2", capabilities: { isolation: "vm" } });
  });

  it("says how to install the command when there is none", async () => {
    const engine = new AppleEngine({ environment: { PATH: "/nonexistent" }, architecture: "arm64" });
    expect(await engine.probe()).toEqual({
      available: false,
      reason: expect.stringContaining("not installed"),
      howToStart: expect.stringContaining("brew install container"),
      isAbsent: true,
    });
  });

  it.each([
    ["0.12.3", /0\.12\.3 is too old.*1\.0\.0/],
    ["2.0.0", /2\.0\.0 is newer/],
  ])("refuses version %s by its name", async (version, message) => {
    const engine = await engineWith(`version='container CLI version ${version} (build: release)'`);
    const refused = { errorType: "ENGINE_UNAVAILABLE", message: expect.stringMatching(message) };
    await expect(engine.capabilities()).rejects.toMatchObject(refused);
    await expect(engine.create(spec)).rejects.toMatchObject(refused);
    expect(await engine.probe()).toMatchObject({ available: false, reason: expect.stringMatching(message) });
  });

  it("refuses a command of that name which is not Apple's", async () => {
    const engine = await engineWith(`echo 'container 3.1, a tool of somebody else'; exit 0`);
    expect(await engine.probe()).toMatchObject({ available: false, reason: expect.stringContaining("not Apple's") });
  });

  it.each([
    ["by its status", `[ "$1" = system ] && { echo '{"status":"not running"}'; exit 1; }`],
    ["by its words alone", `[ "$1" = system ] && { echo 'apiserver is not running'; exit 1; }`],
  ])("says how to start a service that is down, %s", async (_, lines) => {
    const engine = await engineWith(lines);
    const instructions = expect.stringContaining("container system start");
    expect(await engine.probe()).toMatchObject({ available: false, howToStart: instructions });
    await expect(engine.list({})).rejects.toMatchObject({ errorType: "ENGINE_UNAVAILABLE", suggestion: instructions });
  });

  it.each([
    ["goes down", invalid, "ENGINE_UNAVAILABLE", /not running/],
    [
      "breaks off",
      `echo 'Error: interrupted: "XPC connection error: Connection interrupted"' >&2; exit 1`,
      "ENGINE_UNAVAILABLE",
      /aborted a call/,
    ],
    [
      "is late itself",
      `echo 'Error: XPC timeout for request to com.apple.container.apiserver/containerList' >&2; exit 1`,
      "ENGINE_UNAVAILABLE",
      /did not answer in time/,
    ],
    [
      "answers with half a list",
      `printf '[{"id":"a","configuration":{"lab'; exit 0`,
      "ENGINE_UNAVAILABLE",
      /its answer is invalid/,
    ],
    ["answers with something else", `echo '{"error":"x"}'; exit 0`, "ENGINE_UNAVAILABLE", /its answer is invalid/],
    ["floods", `exec yes flood`, "ENGINE_UNAVAILABLE", /more than Glovebox reads/],
    ["hangs", `exec sleep 600`, "ENGINE_UNAVAILABLE", /did not within 0\.2 s/],
    ["hangs and leaves a process", `sleep 600 & wait`, "ENGINE_UNAVAILABLE", /did not within 0\.2 s/],
    ["refuses with a path", `echo "Error: path '/Users/me/x' does not exist" >&2; exit 1`, "INTERNAL", /^[^/]*$/],
  ])("a service that %s ends a list in a clear error", async (_, lines, errorType, message) => {
    // Only what hangs has to wait for it.
    const deadlines = lines.includes("sleep") ? { query: 200 } : {};
    const engine = await engineWith(`[ "$1" = list ] && { ${lines}; }`, deadlines);
    await expect(engine.list({})).rejects.toMatchObject({ errorType, message: expect.stringMatching(message) });
  });

  it("names the image and one of a fixed set of reasons when a pull fails", async () => {
    const words = `Error: unknown: "HTTP request to https://r.example/v2/x/manifests/1 failed with response: 404 Not Found. Reason: manifest unknown"`;
    const engine = await engineWith(`[ "$2" = pull ] && { echo '${words}' >&2; exit 1; }`);
    await expect(engine.images.pull("r.example/x:1", { useCredentials: true })).rejects.toMatchObject({
      errorType: "IMAGE_UNAVAILABLE",
      message: expect.stringContaining("it was not found in its registry"),
    });
    await expect(engine.images.pull("r.example/x:1"), "it has no pull without credentials").rejects.toMatchObject({
      errorType: "IMAGE_UNAVAILABLE",
      suggestion: expect.stringContaining("images.allow"),
    });
  });

  it("says the same of a pull that never ends, within its deadline", async () => {
    const engine = await engineWith(`[ "$2" = pull ] && exec sleep 600`, { pull: 200 });
    await expect(engine.images.pull("r.example/x:1", { useCredentials: true })).rejects.toMatchObject({
      errorType: "ENGINE_UNAVAILABLE",
    });
  });

  it.each([
    ["of another name", "5f3a", '"name":"docker.io/library/other:1"', "5f3a", false],
    ["of another tag", "other", '"name":"docker.io/library/other:1"', "other:2", false],
    ["of another digest", "other", '"name":"docker.io/library/other:1"', `other@sha256:${"b".repeat(64)}`, false],
    ["of that name", "other", '"name":"docker.io/library/other:1"', "other:1", true],
  ])("an image %s that the command finds counts by its name alone", async (_, __, name, reference, isThere) => {
    const found = `[{"configuration":{${name},"descriptor":{"digest":"sha256:${"a".repeat(64)}"}}}]`;
    const engine = await engineWith(`[ "$2" = inspect ] && { echo '${found}'; exit; }`);
    expect(await engine.images.has(reference)).toBe(isThere);
  });

  it("ends the command when its caller gives up", async () => {
    const engine = await engineWith(`[ "$1" = list ] && exec sleep 600`);
    await engine.capabilities();
    await expect(engine.list({}, { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
      errorType: "CANCELLED",
    });
  });

  it("removes what a creation that hangs may have left", async () => {
    const image = `[{"configuration":{"name":"docker.io/library/alpine:3","descriptor":{"digest":"sha256:${"a".repeat(64)}"}}}]`;
    const engine = await engineWith(
      `case "$1 $2" in "image inspect") echo '${image}'; exit ;; create*) exec sleep 600 ;; delete*) echo "$*" >"$TMPDIR/deleted" ;; esac`,
      { create: 200 },
    );
    await expect(engine.create(spec)).rejects.toMatchObject({ errorType: "ENGINE_UNAVAILABLE" });

    expect(await readFile(path.join(folders[0] ?? "", "deleted"), "utf8")).toBe("delete --force -- sb-1\n");
  });

  describe("a container that is started", () => {
    const image = `[{"configuration":{"name":"docker.io/library/alpine:3","descriptor":{"digest":"sha256:${"a".repeat(64)}"}}}]`;

    async function containerWith(lines: string): Promise<Container> {
      const engine = await engineWith(
        `case "$1 $2" in "image inspect") echo '${image}'; exit ;; create*) exit ;; delete*) echo "$*" >>"$TMPDIR/deleted"; exit ;; esac\n${lines}`,
      );
      return engine.create(spec);
    }

    const deleted = (): Promise<string> => readFile(path.join(folders[0] ?? "", "deleted"), "utf8").catch(() => "");

    it.each([
      ["that the service refuses", `echo "Error: failed to bootstrap container, /Users/me" >&2; exit 1`, "INTERNAL"],
      [
        "at which the service breaks off",
        `echo 'Error: XPC connection error: Connection interrupted' >&2; exit 1`,
        "ENGINE_UNAVAILABLE",
      ],
      ["whose first process is none of ours", `echo "supervisor: this program is pid 1" >&2; exit 5`, "INTERNAL"],
      ["whose first process speaks nonsense", `exec yes`, "SANDBOX_LOST"],
    ])("%s tells why", async (_, lines, errorType) => {
      const container = await containerWith(`[ "$1" = start ] && { ${lines}; }`);
      const error = expect.objectContaining({ errorType, message: expect.not.stringContaining("/") });
      await expect(container.start()).rejects.toEqual(error);
    });

    it("is removed when its caller gives up, and the command ends", async () => {
      const container = await containerWith(`[ "$1" = start ] && exec sleep 600`);
      const started = container.start({ signal: AbortSignal.timeout(100) });
      await expect(started).rejects.toMatchObject({ errorType: "CANCELLED" });
      expect(await deleted()).toBe("delete --force -- sb-1\n");
    });
  });

  it("a container is there until the service says that it is not, whatever became of the command", async () => {
    const running = `[{"id":"sb-1","configuration":{},"status":{"state":"running"}}]`;
    const engine = await engineWith(
      `[ "$1" = start ] && exit 1; [ "$1" = list ] && [ ! -e "$TMPDIR/ended" ] && { echo '${running}'; exit; }`,
    );
    const folder = folders[0] ?? "";
    const environment = { PATH: `${folder}:/usr/bin:/bin`, TMPDIR: folder };
    const command = new ContainerCommand(environment, deadlinesMs);
    const takeTurn = async (): Promise<() => void> => () => undefined;
    const place = new ApplePlace({ spec, command, environment: {}, takeTurn });
    await expect(place.start(() => undefined, {})).rejects.toMatchObject({ errorType: "INTERNAL" });
    const gone = place.wait({});
    expect(await settlesWithin(gone, 400)).toBe(false);
    await writeFile(path.join(folder, "ended"), "");
    await gone;
    expect(await place.inspect({})).toEqual({ running: false, exitCode: 1, oomKilled: null });
    await engine.close();
  });
});
