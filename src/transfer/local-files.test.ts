import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { whileSwapping } from "../../test/helpers/swapping.ts";
import { saveArtifacts } from "./local-files.ts";

const artifact = (name: string, content: string) =>
  ({ path: name, size_bytes: 1, media_type: "text/plain", type: "text", encoding: "utf8", content }) as const;

const now = { platform: process.platform, nowMs: Date.now() };

describe("saveArtifacts", () => {
  let folder: string;
  const at = (name: string): string => path.join(folder, name);
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "glovebox-artifacts-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("writes each file at its place in a folder that it makes, over what was there, but not what is missing", async () => {
    mkdirSync(at("out/deep"), { recursive: true });
    writeFileSync(at("out/deep/a.txt"), "old");
    const given = [
      artifact("deep/a.txt", "new"),
      artifact("deep/er/b.txt", "b"),
      { ...artifact("p.bin", "AAE="), encoding: "base64" } as const,
      { ...artifact("huge", ""), omitted: "It is larger than what a result carries." },
    ];
    const { saved, warnings } = await saveArtifacts(given, at("out"), now);
    expect(saved).toEqual(["deep/a.txt", "deep/er/b.txt", "p.bin"]);
    // The answer's own warnings name what is missing.
    expect(warnings).toEqual([]);
    expect(readFileSync(at("out/deep/a.txt"), "utf8")).toBe("new");
    expect(readFileSync(at("out/deep/er/b.txt"), "utf8")).toBe("b");
    expect([...readFileSync(at("out/p.bin"))]).toEqual([0, 1]);
  });

  it.each(["../a", "/etc/a", "a/../../b", ""])("writes nothing outside for the name %j", async (name) => {
    mkdirSync(at("out"));
    await saveArtifacts([artifact(name, "x")], at("out"), now).catch(() => undefined);
    expect(readdirSync(folder)).toEqual(["out"]);
  });

  it("follows no link that is there", async () => {
    mkdirSync(at("outside"));
    mkdirSync(at("out"));
    symlinkSync(at("outside"), at("out/way"));
    symlinkSync(at("outside/f"), at("out/f"));
    await saveArtifacts([artifact("f", "x")], at("out"), now);
    await expect(saveArtifacts([artifact("way/g", "x")], at("out"), now)).rejects.toThrow(/way/);
    expect(readdirSync(at("outside"))).toEqual([]);
    expect(readFileSync(at("out/f"), "utf8")).toBe("x");
  });

  it("follows no link on the way to the folder", async () => {
    mkdirSync(at("outside/out"), { recursive: true });
    symlinkSync(at("outside"), at("way"));
    await expect(saveArtifacts([artifact("f", "x")], at("way/out"), now)).rejects.toThrow(/way/);
    await expect(saveArtifacts([artifact("f", "x")], at("way"), now)).rejects.toThrow(/way/);
    await expect(saveArtifacts([artifact("f", "x")], at("way/new"), now)).rejects.toThrow(/way/);
    expect(readdirSync(at("outside"), { recursive: true })).toEqual(["out"]);
  });

  it("makes the folder, and those above it", async () => {
    await saveArtifacts([artifact("f", "x")], at("some/new/out"), now);
    expect(readFileSync(at("some/new/out/f"), "utf8")).toBe("x");
  });

  it.runIf(process.platform === "linux").each([
    ["a folder above it", "shared", "shared/out"],
    ["the folder itself", "shared/out", "shared/out"],
    ["a folder in it", "shared/out/deep", "shared/out"],
  ])("leads nobody out while a program exchanges %s with a link", async (_, name, target) => {
    mkdirSync(at("shared/out/deep"), { recursive: true });
    mkdirSync(at("outside/out/deep"), { recursive: true });
    symlinkSync(at("outside"), at("evil"));
    await whileSwapping(at(name), at("evil"), async () => {
      for (let turn = 0; turn < 150; turn += 1) {
        await saveArtifacts([artifact("deep/f", "x"), artifact("g", "x")], at(target), now).catch(() => null);
      }
    });
    const left = readdirSync(at("outside"), { recursive: true, encoding: "utf8" });
    expect(new Set(left)).toEqual(new Set(["out", "out/deep"]));
  });
});
