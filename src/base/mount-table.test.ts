import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseMountTable } from "./mount-table.ts";

describe("parseMountTable", () => {
  it("reads what is mounted where, with names of any characters", () => {
    const text = String.raw`36 35 98:0 /mnt1\040a\134b /mnt\0112 rw,noatime master:1 - ext3 /dev/root rw
255 211 254:0 /tmp/größe /workdir rw,relatime - ext4 /dev/vda rw
`;
    expect(parseMountTable(text)).toEqual([
      {
        id: 36,
        device: "98:0",
        root: String.raw`/mnt1 a\b`,
        mountPoint: "/mnt\t2",
        ownOptions: "rw,noatime",
        kind: "ext3",
        options: "rw",
      },
      {
        id: 255,
        device: "254:0",
        root: "/tmp/größe",
        mountPoint: "/workdir",
        ownOptions: "rw,relatime",
        kind: "ext4",
        options: "rw",
      },
    ]);
  });

  it("leaves out what is no line of one", () => {
    expect(parseMountTable("")).toEqual([]);
    expect(parseMountTable("36 35 98:0 /root\nx 1 0:1 / /\n")).toEqual([]);
  });

  it.runIf(process.platform === "linux")("reads the kernel's own", () => {
    const table = parseMountTable(readFileSync("/proc/self/mountinfo", "utf8"));
    expect(table.find(({ mountPoint }) => mountPoint === "/proc")).toMatchObject({ root: "/" });
  });
});
