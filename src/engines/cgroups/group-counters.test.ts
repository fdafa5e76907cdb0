import { describe, expect, it } from "vitest";
import { parseCacheBytes, parseCpuTimeMs, parseDiskBytes, parseOomKills } from "../control-groups.ts";

describe("parseCpuTimeMs", () => {
  it.each([
    ["2500000\n", 2.5],
    ["usage_usec 1500\nuser_usec 1000\nsystem_usec 500\n", 1.5],
    ["nr_periods 3\n", null],
    ["", null],
  ])("reads %j", (text, ms) => {
    expect(parseCpuTimeMs(text)).toBe(ms);
  });
});

describe("parseDiskBytes", () => {
  it.each([
    ["version 1", "8:0 Read 4096\n8:0 Write 100\n8:0 Total 4196\n8:16 Read 1\n8:16 Write 2\nTotal 4199\n", 4097, 102],
    ["version 2", "8:0 rbytes=4096 wbytes=100 rios=1 wios=2\n254:0 rbytes=1 wbytes=2 rios=1 wios=1\n", 4097, 102],
    ["version 1 without a device", "Total 0\n", 0, 0],
    ["version 2 without a device", "", 0, 0],
  ])("adds up the devices of %s", (_, text, read, written) => {
    expect(parseDiskBytes(text)).toEqual({ read, written });
  });
});

describe("parseOomKills", () => {
  it("reads the count of either version", () => {
    expect(parseOomKills("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")).toBe(3);
    expect(parseOomKills("low 0\nhigh 0\nmax 12\noom 4\noom_kill 2\noom_group_kill 0\n")).toBe(2);
  });

  it("does not know where the kernel does not say", () => {
    expect(parseOomKills("oom_kill_disable 0\nunder_oom 0\n")).toBeNull();
  });
});

describe("parseCacheBytes", () => {
  it("reads what holds files in either version, and none of its parts", () => {
    expect(parseCacheBytes("cache 4096\nrss 1\ninactive_file 7\ntotal_cache 9\n")).toBe(4096);
    expect(parseCacheBytes("anon 1\nfile 8192\nfile_mapped 2\n")).toBe(8192);
    expect(parseCacheBytes("anon 1\nfile_mapped 2\n")).toBeNull();
  });
});
