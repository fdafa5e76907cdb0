import { describe, expect, it } from "vitest";
import { mebibyte } from "../../base/bytes.ts";
import type { ContainerSpec } from "../container-spec.ts";
import { createArguments } from "./apple-engine.ts";
import { containerOfVolume, sizedVolumes, volumeArguments } from "./apple-volumes.ts";

const spec = (sizesMb: readonly number[]): ContainerSpec => ({
  name: "sb-1",
  image: "alpine:3",
  labels: { "glovebox.owner": "a=b" },
  limits: { cpus: 1, memoryBytes: 512 * mebibyte, pids: 64 },
  scratch: sizesMb.map((size, index) => ({ path: `/s${index}`, sizeBytes: size * mebibyte })),
});

describe("sizedVolumes", () => {
  it.each([
    ["half the memory stays in memory", spec([192, 64]), []],
    ["more lies on volumes, but for what is small", spec([760, 4, 256]), ["sb-1.0 /s0", "sb-1.1 /s2"]],
  ])("%s", (_, given, expected) => {
    expect(sizedVolumes(given).map(({ name, path }) => `${name} ${path}`)).toEqual(expected);
  });

  it("become volumes with a size and their container's labels, and mounts of it", () => {
    const given = spec([768.5, 4]);
    const [volume] = sizedVolumes(given);
    if (volume === undefined) throw new Error("a volume was expected");
    const words = volumeArguments(volume, given.labels);
    expect(words).toEqual(["volume", "create", "--label=glovebox.owner=a%3Db", "-s=768m", "--", "sb-1.0"]);
    const mounts = createArguments(given, { platform: "linux/arm64", binary: { path: "/p/supervisor-arm64" } }).filter(
      (word) => word.startsWith("--mount="),
    );
    expect(mounts).toEqual([
      "--mount=type=volume,source=sb-1.0,target=/s0",
      "--mount=type=tmpfs,target=/s1,size=4m,mode=1777",
    ]);
  });

  it.each([
    ["glovebox-sbx-1.0", "glovebox-sbx-1"],
    ["glovebox-sbx-1", null],
    ["My.Data.0", null],
  ])("tell their container by the name %s", (name, container) => {
    expect(containerOfVolume(name)).toBe(container);
  });
});
