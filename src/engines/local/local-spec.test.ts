import { describe, expect, it } from "vitest";
import type { ContainerSpec } from "../container-spec.ts";
import { checkContainerSpec, checkExecSpec, parseProcessUser, sharedMemoryBytes } from "./local-spec.ts";

const mebibyte = 1024 * 1024;
const spec: ContainerSpec = {
  name: "sandbox-1",
  image: "host",
  labels: {},
  limits: { cpus: 1, memoryBytes: 1024 * mebibyte, pids: 10 },
  scratch: [{ path: "/work", sizeBytes: mebibyte }],
};
const withScratch = (path: string): ContainerSpec => ({ ...spec, scratch: [{ path, sizeBytes: mebibyte }] });
const invalid = (field: string): object => ({ errorType: "INVALID_REQUEST", context: { field } });

describe("checkContainerSpec", () => {
  it.each(["/work", "/tmp", "/home/node/.pi", "/etcetera", "/workspace/group"])("takes scratch at %s", (path) => {
    expect(() => checkContainerSpec(withScratch(path))).not.toThrow();
  });

  it.each([
    "/",
    "work",
    "/work/",
    "/work/../etc",
    "/etc",
    "/usr/lib",
    "/proc/x",
    "/dev/shm",
    "/opt/glovebox/bin",
    "//work",
  ])("refuses scratch at %s", (path) => {
    expect(() => checkContainerSpec(withScratch(path))).toThrow(expect.objectContaining(invalid("scratch.path")));
  });

  it.each(["", "A", "a/b", "../a", "a.b", "-a"])("refuses the name %j, which becomes a folder's", (name) => {
    expect(() => checkContainerSpec({ ...spec, name })).toThrow(expect.objectContaining(invalid("name")));
  });

  it("refuses variables that would become other options or none", () => {
    for (const name of ["", "A=B", "A\0--bind"]) {
      expect(() => checkContainerSpec({ ...spec, environment: { [name]: "1" } })).toThrow(/environment/);
    }
    expect(() => checkContainerSpec({ ...spec, environment: { A: "1\0--bind\0/\0/x" } })).toThrow(/environment\.A/);
  });
});

describe("checkExecSpec", () => {
  it("takes no user, or the container's own", () => {
    expect(() => checkExecSpec({ command: ["true"] }, spec)).not.toThrow();
    expect(() => checkExecSpec({ command: ["true"], user: "65527:65527" }, spec)).not.toThrow();
    expect(() => checkExecSpec({ command: ["true"], user: "5:6" }, { ...spec, processUser: "5:6" })).not.toThrow();
  });

  it("refuses another user", () => {
    for (const user of ["0:0", "1001:1000"]) {
      expect(() => checkExecSpec({ command: ["true"], user }, spec)).toThrow(
        expect.objectContaining({ errorType: "UNSUPPORTED" }),
      );
    }
  });

  it("refuses an empty command and one with NUL", () => {
    expect(() => checkExecSpec({ command: [] }, spec)).toThrow(expect.objectContaining(invalid("command")));
    expect(() => checkExecSpec({ command: ["a\0b"] }, spec)).toThrow(expect.objectContaining(invalid("command")));
  });
});

describe("parseProcessUser", () => {
  it("reads uid and gid, by default nobody of the host's", () => {
    expect(parseProcessUser("12:34")).toEqual({ uid: 12, gid: 34 });
    expect(parseProcessUser(undefined)).toEqual({ uid: 65_527, gid: 65_527 });
  });

  it("refuses names, halves and root", () => {
    for (const user of ["node", "1000", "1000:", "-1:1"]) expect(() => parseProcessUser(user)).toThrow(/processUser/);
    expect(() => parseProcessUser("0:0")).toThrow(expect.objectContaining({ errorType: "UNSUPPORTED" }));
  });
});

describe("sharedMemoryBytes", () => {
  it("is what was asked, else an eighth of the memory and 64 MiB at most", () => {
    expect(sharedMemoryBytes({ ...spec, sharedMemoryBytes: 5 })).toBe(5);
    expect(sharedMemoryBytes(spec)).toBe(64 * mebibyte);
    expect(sharedMemoryBytes({ ...spec, limits: { ...spec.limits, memoryBytes: 64 * mebibyte } })).toBe(8 * mebibyte);
  });
});
