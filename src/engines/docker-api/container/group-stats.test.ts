import { describe, expect, it } from "vitest";
import { parseCgroupPlaces, findGroup, groupCounters } from "../../control-groups.ts";

const id = "f8f56f4da8bf";
const version1 = parseCgroupPlaces(
  [
    "25 24 0:23 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
    "26 24 0:24 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
    "27 24 0:25 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio",
  ].join("\n"),
  "",
);
const version2 = parseCgroupPlaces("30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/user.slice\n");

describe("findGroup", () => {
  it("finds the folders of each controller in version 1, if they have the name of the memory's", () => {
    const groups = `9:blkio:/other/${id}\n4:memory:/docker/${id}\n2:cpu,cpuacct:/docker/${id}\n0::/\n`;
    const found = findGroup(groups, id, version1);
    expect(found?.name).toBe(`/docker/${id}`);
    expect([...(found?.places ?? [])]).toEqual([
      ["memory", { folder: "/sys/fs/cgroup/memory", version: 1 }],
      ["cpu", { folder: "/sys/fs/cgroup/cpu,cpuacct", version: 1 }],
      ["cpuacct", { folder: "/sys/fs/cgroup/cpu,cpuacct", version: 1 }],
    ]);
  });

  it("finds the one folder of version 2, from its root on", () => {
    const found = findGroup(`0::/system.slice/docker-${id}.scope\n`, id, version2);
    expect(found?.name).toBe(`/system.slice/docker-${id}.scope`);
    expect(found?.places.get("memory")).toEqual({ folder: "/sys/fs/cgroup", version: 2 });
  });

  it.each([
    ["another program of this machine", "4:memory:/user.slice\n0::/\n", version1],
    ["another container", "0::/system.slice/docker-0123.scope\n", version2],
    ["no process", "", version2],
    ["a machine without control groups", `0::/docker/${id}\n`, parseCgroupPlaces("", "")],
  ])("does not take %s for it", (_, groups, places) => {
    expect(findGroup(groups, id, places)?.places.get("memory")).toBeUndefined();
  });
});

it("counts nothing for a process that is not the container's", async () => {
  expect(await groupCounters({ id, processId: process.pid })).toBeNull();
  expect(await groupCounters({ id, processId: 0 })).toBeNull();
});
