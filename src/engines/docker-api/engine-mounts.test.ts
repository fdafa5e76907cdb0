import { describe, expect, it } from "vitest";
import type { SharedFiles } from "./own-container.ts";
import { reachableMounts } from "./engine-mounts.ts";

const project = { source: "/projects/a", target: "/workdir", readOnly: false };
const packages = { source: "/state/packages/x", target: "/packages", readOnly: true, unchanging: true };
const container: SharedFiles = {
  kind: "container",
  mounts: [
    { Source: "/srv", Destination: "/projects", RW: true },
    { Source: "/data", Destination: "/data", RW: false },
  ],
  mountPoints: ["/", "/projects", "/data"],
};

describe("reachableMounts", () => {
  it("leaves an engine of the same files its paths", () => {
    expect(reachableMounts([project], { kind: "same" })).toEqual({ mounts: [project], copied: [] });
  });

  it("copies what never changes to an engine of other files", () => {
    expect(reachableMounts([packages], { kind: "none" })).toEqual({ mounts: [], copied: [packages] });
  });

  it("names a container's folders as the engine's machine does", () => {
    expect(reachableMounts([project], container)).toEqual({
      mounts: [{ ...project, source: "/srv/a" }],
      copied: [],
    });
  });

  it("copies what never changes from the container's own root", () => {
    expect(reachableMounts([packages], container)).toEqual({ mounts: [], copied: [packages] });
  });

  it("gives for reading what this container may read only, and not for writing", () => {
    const data = { source: "/data/set", target: "/data", readOnly: true };
    expect(reachableMounts([data], container).mounts).toEqual([data]);
    expect(() => reachableMounts([{ ...data, readOnly: false }], container)).toThrow(
      expect.objectContaining({ errorType: "POLICY_DENIED", context: { rule: "read_only", target: "/data" } }),
    );
  });

  it.each([
    ["a project that is in the container alone", [{ ...project, source: "/home/a" }], "/workdir"],
    ["packages that would have to be copied beside a project", [project, packages], "/packages"],
  ])("refuses %s", (_, mounts, target) => {
    expect(() => reachableMounts(mounts, container)).toThrow(
      expect.objectContaining({ errorType: "POLICY_DENIED", context: { rule: "not_shared", target } }),
    );
  });
});
