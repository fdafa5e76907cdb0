import { describe, expect, it } from "vitest";
import { parseInstaller } from "./find-installer.ts";

describe("parseInstaller", () => {
  const said = (platform: unknown, manager: unknown = "pip"): ReturnType<typeof parseInstaller> =>
    parseInstaller(JSON.stringify({ own: ["pip", 7], manager, platform }));

  it("takes what interpreters say", () => {
    for (const platform of [
      "cpython-311 linux-x86_64 cpython-311-x86_64-linux-gnu glibc 2.36",
      "bun-1.3 linux x64 gnu",
      "cpython-313 macosx-14.0-arm64 cpython-313-darwin",
    ]) {
      expect(said(platform)).toEqual({ manager: "pip", platform, own: ["pip"] });
    }
    expect(said("x", null)).toEqual({ manager: null, platform: "x", own: ["pip"] });
  });

  it.each(["", "a\nb", "\u001b[2J", "a  b", " a", "a\u202e", "a".repeat(201), 7])(
    "believes no other words: %j",
    (platform) => {
      expect(said(platform)).toBeNull();
    },
  );

  it("knows its tools", () => {
    expect(said("x", "sh")).toBeNull();
    expect(parseInstaller("no JSON")).toBeNull();
    expect(parseInstaller(JSON.stringify({ manager: null, platform: "x", own: "y" }))).toBeNull();
    expect(parseInstaller(JSON.stringify({ manager: null, platform: "x" }))).toMatchObject({ own: [] });
  });
});
