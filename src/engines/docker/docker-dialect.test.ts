import { describe, expect, it } from "vitest";
import { dockerDialect, dockerWording } from "./docker-engine.ts";

describe("dockerDialect", () => {
  it("mounts scratch for everyone, sized, with a file for each page, and programs may run there", () => {
    expect(dockerWording.tmpfsOptions({ path: "/work", sizeBytes: 8_388_608 })).toBe(
      "rw,exec,nosuid,nodev,mode=1777,size=8388608,nr_inodes=2048,uid=0,gid=0",
    );
    expect(dockerWording.tmpfsOptions({ path: "/work", sizeBytes: 4096 })).toMatch(/nr_inodes=1024,uid=0,gid=0$/);
  });

  it("passes the seccomp profile as its text", () => {
    expect(dockerWording.seccompOption({ defaultAction: "A" })).toBe('seccomp={"defaultAction":"A"}');
  });

  it("takes Docker for itself", () => {
    expect(dockerDialect.foreignness({ Os: "linux", Components: [{ Name: "Engine" }] })).toBeNull();
    expect(dockerDialect.foreignness({})).toBeNull();
  });

  it.each([
    ["Podman behind the same socket", { Os: "linux", Components: [{ Name: "Podman Engine" }] }, "Podman"],
    ["Windows containers", { Os: "windows", Components: null }, "windows containers"],
  ])("refuses %s", (_, answer, word) => {
    expect(dockerDialect.foreignness(answer)).toEqual({
      reason: expect.stringContaining(word),
      howToStart: expect.stringMatching(/\w/),
    });
  });
});
