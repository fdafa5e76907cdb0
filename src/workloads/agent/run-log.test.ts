import { execFileSync } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RunLog, type RunLogOptions } from "./run-log.ts";

const startedAtMs = Date.UTC(2026, 10, 23, 7, 0, 0, 5);
const name = "container-2026-11-23T07-00-00-005Z";
const quiet = (): void => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
let folder = "";
beforeEach(() => void (folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")))));
afterEach(() => rmSync(folder, { recursive: true }));

const uid = process.getuid?.() ?? null;
const ownFolder = (): RunLogOptions["folder"] => ({ stablePath: folder, owner: { uid: uid ?? 0, gid: 0 } });
const open = (): Promise<RunLog> =>
  RunLog.open({ folder: ownFolder(), uid, group: "x", startedAtMs, maxBytes: 10, logger });
const chunk = (stream: "stdout" | "stderr", text: string) => ({ stream, bytes: Buffer.from(text) }) as const;

describe("RunLog", () => {
  it("has the facts and the output as it came, for the user alone", async () => {
    const log = await open();
    await log.facts("started", { group: "x", isMain: false });
    await log.output(chunk("stdout", "one\n"));
    await log.output(chunk("stdout", "two\n"));
    await log.output(chunk("stderr", "warning\n"));
    await log.facts("ended", { exitCode: 0 });
    await log[Symbol.asyncDispose]();
    expect(log.name).toBe(`groups/x/logs/${name}.log`);
    const file = path.join(folder, `${name}.log`);
    expect(readFileSync(file, "utf8")).toBe(
      '\n=== started\ngroup: "x"\nisMain: false\n\n=== stdout\none\ntwo\n\n=== stderr\nwarning\n\n=== ended\nexitCode: 0\n',
    );
    expect(statSync(file).mode & 0o777).toBe(process.platform === "win32" ? 0o666 : 0o600);
  });

  it.runIf(uid === 0)(
    "is its folder's owner's where Glovebox is root, whatever its name leads to by then",
    async () => {
      const owner = { uid: 4321, gid: 4322 };
      writeFileSync(path.join(folder, "kept"), "kept");
      const file = path.join(folder, `${name}.log`);
      const exchanging = {
        stablePath: folder,
        // Asked for once the log is open.
        get owner() {
          renameSync(file, path.join(folder, "moved"));
          symlinkSync("kept", file);
          Object.defineProperty(this, "owner", { value: owner });
          return owner;
        },
      };
      const options = { folder: exchanging, uid, group: "x", startedAtMs, maxBytes: 10, logger };
      await using _ = await RunLog.open(options);
      expect(statSync(path.join(folder, "moved"))).toMatchObject(owner);
      expect(statSync(path.join(folder, "kept"))).toMatchObject({ uid: 0, gid: 0 });
    },
  );

  it("goes on at its end when an agent has shortened it", async () => {
    const log = await open();
    await log.output(chunk("stdout", "012345"));
    truncateSync(path.join(folder, `${name}.log`), 0);
    await log.output(chunk("stdout", "67"));
    await log[Symbol.asyncDispose]();
    expect(readFileSync(path.join(folder, `${name}.log`), "utf8")).toBe("67");
  });

  it("keeps so many bytes of each stream", async () => {
    const log = await open();
    await log.output(chunk("stdout", "0123456789abc"));
    await log.output(chunk("stdout", "def"));
    await log.output(chunk("stderr", "kept"));
    await log[Symbol.asyncDispose]();
    const text = readFileSync(path.join(folder, `${name}.log`), "utf8");
    expect(text).toContain("=== stdout\n0123456789\n=== stdout is longer");
    expect(text).not.toContain("abc");
    expect(text).toContain("=== stderr\nkept");
  });

  it.skipIf(process.platform === "win32")("writes nothing to what an agent has put in its place", async () => {
    writeFileSync(path.join(folder, "kept"), "kept");
    symlinkSync("kept", path.join(folder, `${name}.log`));
    symlinkSync("/etc/glovebox-absent", path.join(folder, `${name}-1.log`));
    execFileSync("mkfifo", [path.join(folder, `${name}-2.log`)]);
    const log = await open();
    await log.output(chunk("stdout", "out"));
    await log[Symbol.asyncDispose]();
    expect(log.name).toBe(`groups/x/logs/${name}-3.log`);
    expect(readFileSync(path.join(folder, "kept"), "utf8")).toBe("kept");
  });

  it("gives up in the end, and says where", async () => {
    for (let count = 0; count <= 100; count += 1) {
      writeFileSync(path.join(folder, `${name}${count === 0 ? "" : `-${count}`}.log`), "");
    }
    await expect(open()).rejects.toMatchObject({
      errorType: "PERMISSION_DENIED",
      message: "No log can be written to groups/x/logs (EEXIST).",
    });
    expect(readdirSync(folder)).toHaveLength(101);
  });
});
