import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { frameModule } from "../scripts/supervisor-frames-module.ts";
import { readFrameTable } from "../scripts/supervisor-frames.ts";

describe("the table of frames", () => {
  it("is what supervisor/frames.json says (node scripts/write-supervisor-frames.ts)", () => {
    const written = readFileSync(new URL("../src/engines/supervised/frames/frame-table.ts", import.meta.url), "utf8");
    expect(written.replaceAll("\r\n", "\n")).toBe(frameModule(readFrameTable()));
  });

  it("changes with every number of the table", () => {
    const table = readFrameTable();
    const [first, ...others] = table.frames;
    const changed = [
      { ...table, version: 99 },
      { ...table, frames: others },
      { ...table, frames: [{ ...first!, type: 99 }, ...others] },
      { ...table, frames: [{ ...first!, tail: undefined! }, ...others] },
      { ...table, enums: table.enums.slice(1) },
    ];
    for (const each of changed) expect(frameModule(each)).not.toBe(frameModule(table));
  });
});
