import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { autoOrder, engineTable } from "./engine-table.ts";

const order = (platform: NodeJS.Platform, allowEmbedded = true): readonly string[] =>
  autoOrder(engineTable, { platform, allowEmbedded }).map(({ name }) => name);

describe("the order in which auto asks the engines", () => {
  it("has Apple's first on macOS only", () => {
    expect(order("darwin")).toEqual(["apple", "docker", "podman", "local"]);
    expect(order("linux")).toEqual(["docker", "podman", "apple", "local"]);
    expect(order("win32")).toEqual(["docker", "podman", "apple", "local"]);
  });

  it("leaves out what is used only by its name", () => {
    expect(engineTable.filter(({ onlyByName }) => onlyByName === true).map(({ name }) => name)).toEqual(["kubernetes"]);
    expect(order("linux")).not.toContain("kubernetes");
  });

  it.each(["linux", "darwin", "win32"] as const)("never ends at the embedded one on %s unless it may", (platform) => {
    expect(order(platform, false)).not.toContain("local");
    expect(order(platform).at(-1)).toBe("local");
  });
});

it("names each variable of Kubernetes that its settings read, which is refused as unknown otherwise", () => {
  const text = readFileSync(new URL("kubernetes/cluster-settings.ts", import.meta.url), "utf8");
  const read = [...text.matchAll(/(?:read|list)\("([A-Z_]+)"\)/g)].map(
    ([, name = ""]) => `GLOVEBOX_KUBERNETES_${name}`,
  );
  expect(read.length).toBeGreaterThan(5);
  expect(engineTable.find(({ name }) => name === "kubernetes")?.variables).toEqual(expect.arrayContaining(read));
});
