import { execFileSync } from "node:child_process";
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { whileSwapping } from "../../test/helpers/swapping.ts";
import { saveFile } from "./local-files.ts";

const now = { platform: process.platform, nowMs: Date.now() };

describe("saveFile", () => {
  let folder: string;
  const at = (name: string): string => path.join(folder, name);
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "glovebox-save-"));
    mkdirSync(at("outside"));
    writeFileSync(at("outside/f"), "own");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("replaces a file, and a link instead of writing through it", async () => {
    writeFileSync(at("report"), "old");
    await saveFile(at("report"), "new", now);
    symlinkSync(at("outside/f"), at("link"));
    await saveFile(at("link"), "new", now);
    expect(["report", "link", "outside/f"].map((name) => readFileSync(at(name), "utf8"))).toEqual([
      "new",
      "new",
      "own",
    ]);
  });

  it("follows no link on the way, and says where it leads", async () => {
    symlinkSync(at("outside"), at("way"));
    await expect(saveFile(at("way/f"), "new", now)).rejects.toThrow(/way" is a link .* not followed/);
    expect(readFileSync(at("outside/f"), "utf8")).toBe("own");
    await expect(saveFile(at("missing/f"), "new", now)).rejects.toThrow(/does not exist/);
  });

  it.skipIf(process.platform === "win32")("writes to a FIFO as it is", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    const read = text(createReadStream(at("pipe")));
    await saveFile(at("pipe"), "report", now);
    expect(await read).toBe("report");
  });

  it.skipIf(process.platform !== "linux")("writes nothing elsewhere while a folder on the way is swapped", async () => {
    mkdirSync(at("way"));
    symlinkSync(at("outside"), at("evil"));
    await whileSwapping(at("way"), at("evil"), async () => {
      for (let time = 0; time < 200; time++) await saveFile(at("way/new"), "new", now).catch(() => undefined);
    });
    expect(readdirSync(at("outside"))).toEqual(["f"]);
  });
});
