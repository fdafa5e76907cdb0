import { describe, expect, it } from "vitest";
import { runtimeKind } from "./oci-runtime.ts";

describe("runtimeKind", () => {
  it.each([
    ["runc", undefined, "namespaces"],
    ["io.containerd.runc.v2", { path: "runc" }, "namespaces"],
    ["crun", { path: "/usr/bin/crun" }, "namespaces"],
    ["krunner", {}, "namespaces"],
    ["runsc", { path: "/usr/bin/runsc" }, "gvisor"],
    ["runsc-kvm", {}, "gvisor"],
    ["safe", { path: "/opt/gvisor/runsc" }, "gvisor"],
    ["safe", { runtimeType: "io.containerd.runsc.v1" }, "gvisor"],
    ["kata", { path: "/usr/bin/kata-runtime" }, "vm"],
    ["vm", { runtimeType: "io.containerd.kata.v2" }, "vm"],
  ] as const)("of %s %j is %s", (name, answer, expected) => {
    expect(runtimeKind(name, answer)).toBe(expected);
  });
});
