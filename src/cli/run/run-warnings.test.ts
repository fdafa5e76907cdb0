import { describe, expect, it } from "vitest";
import { runWarnings } from "./run-warnings.ts";

const warnings = ["isolation preload: no wall.", "No engine answers.", "scratch: 256 MiB", "a \u001b[2Jlimit"];

describe("warnings of a run", () => {
  it("are shown once each, harmless to a terminal, without scratch unless asked for", () => {
    const shown = new Set(["No engine answers."]);
    const text = runWarnings({ warnings }, { shown, namesDisk: false });
    expect(text).not.toContain("\u001b");
    expect(text.split("\n")).toEqual([
      "glovebox: isolation preload: no wall.",
      expect.stringMatching(/^glovebox: a .*limit$/),
      "",
    ]);
  });

  it("say where scratch lies when its size was asked for", () => {
    expect(runWarnings({ warnings }, { shown: new Set(), namesDisk: true })).toContain("glovebox: scratch: 256 MiB\n");
  });
});
