import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { saveArtifacts } from "./save-artifacts.ts";

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

  it("writes each file at its place in a folder that it makes, over what was there, and tells what is missing", async () => {
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
    expect(warnings).toEqual(["huge was not saved: It is larger than what a result carries."]);
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
});
