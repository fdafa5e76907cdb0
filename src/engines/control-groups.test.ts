import { describe, expect, it } from "vitest";
import { parseCgroupPlaces } from "./control-groups.ts";

const version1 = `
24 30 0:22 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
25 24 0:23 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
26 24 0:24 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
27 24 0:25 / /sys/fs/cgroup/my\\040pids rw,relatime - cgroup cgroup rw,pids
28 24 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
`;
const version2 = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

describe("parseCgroupPlaces", () => {
  it("finds each controller's hierarchy, also where two share one or the path holds a space", () => {
    expect(parseCgroupPlaces(version1, "4:memory:/a\n0::/\n").version1).toEqual({
      memory: "/sys/fs/cgroup/memory",
      cpu: "/sys/fs/cgroup/cpu,cpuacct",
      cpuacct: "/sys/fs/cgroup/cpu,cpuacct",
      pids: "/sys/fs/cgroup/my pids",
    });
  });

  it("takes cpuset and cpuacct for no cpu", () => {
    const mounts = "26 24 0:24 / /c rw - cgroup cgroup rw,cpuset\n27 24 0:24 / /d rw - cgroup cgroup rw,cpuacct\n";
    expect(parseCgroupPlaces(mounts, "").version1).toEqual({ cpuacct: "/d" });
  });

  it("lists the folders of the unified hierarchy from its root down to our own group", () => {
    expect(parseCgroupPlaces(version2, "0::/user.slice/user-1.slice/s.scope\n").version2).toEqual([
      "/sys/fs/cgroup",
      "/sys/fs/cgroup/user.slice",
      "/sys/fs/cgroup/user.slice/user-1.slice",
      "/sys/fs/cgroup/user.slice/user-1.slice/s.scope",
    ]);
  });

  it("sees a group relative to what is mounted", () => {
    const mounts = "30 24 0:26 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    expect(parseCgroupPlaces(mounts, "0::/box/inner\n").version2).toEqual(["/sys/fs/cgroup", "/sys/fs/cgroup/inner"]);
    expect(parseCgroupPlaces(mounts, "0::/boxes\n").version2).toEqual(["/sys/fs/cgroup"]);
  });

  it("does not leave what our namespace shows", () => {
    expect(parseCgroupPlaces(version2, "0::/../other\n").version2).toEqual(["/sys/fs/cgroup"]);
  });

  it("finds nothing where nothing is mounted", () => {
    expect(parseCgroupPlaces("", "")).toEqual({ version1: {}, version2: [] });
  });
});
