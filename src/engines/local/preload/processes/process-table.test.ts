import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parsePs, readProcessTable } from "./process-table.ts";

describe("readProcessTable", () => {
  /** The way of Linux, and the one by `ps`. */
  const ways = (["linux", "darwin"] as const).filter((way) => existsSync(way === "linux" ? "/proc/self" : "/bin/ps"));
  it.each(ways)("finds this process and its parent as on %s", async (way) => {
    const rows = await readProcessTable(way);
    expect(rows).toContainEqual(expect.objectContaining({ id: process.pid, parent: process.ppid }));
  });
});

describe("parsePs", () => {
  it("reads the lines and leaves out what has ended", () => {
    expect(parsePs("    1     0     1 Ss\n  501     1   501 R+\n  502   501   501 Z\n")).toEqual([
      { id: 1, parent: 0, group: 1, session: null },
      { id: 501, parent: 1, group: 501, session: null },
    ]);
  });
});
