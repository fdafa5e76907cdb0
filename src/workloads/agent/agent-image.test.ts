import { expect, it } from "vitest";
import { agentOfImage, imageOfAgent } from "./agent-image.ts";
import { bundleRunner } from "./agent-files.ts";

it("each agent has an image of its own, which is known by its name", () => {
  expect(imageOfAgent("pi")).toBe("glovebox-agent");
  expect(imageOfAgent("codex")).toBe("glovebox-agent:codex");
  expect(["glovebox-agent", "glovebox-agent:latest", "glovebox-agent:codex"].map(agentOfImage)).toEqual([
    "pi",
    "pi",
    "codex",
  ]);
  expect(["glovebox-agents", "glovebox-agent:pip", "my/glovebox-agent", "glovebox-agent:"].map(agentOfImage)).toEqual(
    Array.from({ length: 4 }, () => null),
  );
});

it("the agent runner is one file, of our own code alone", async () => {
  const runner = await bundleRunner();
  const imported = [...runner.matchAll(/^import .* from "([^"]+)";$/gm)].map(([, name = ""]) => name);
  expect(imported.length).toBeGreaterThan(0);
  expect(imported.filter((name) => !/^(?:node:.+|child_process|fs|os|path)$/.test(name))).toEqual([]);
  expect(runner).not.toContain("node_modules");
  expect(runner.length).toBeLessThan(60_000);
});
