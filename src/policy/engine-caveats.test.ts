import { expect, it } from "vitest";
import { engineCaveats, isEngineCaveat } from "./engine-caveats.ts";

it("are known by their sentences, and nothing else is taken for one", () => {
  const { replaced, missing, watchedFiles, watchedSetuid, fallback } = engineCaveats;
  const all = [
    replaced("local", "a memory limit", "a check"),
    missing("local", "a CPU limit"),
    watchedFiles("docker", "a watch"),
    watchedSetuid("docker", "the project", "a watch"),
    fallback(["docker", "podman"]),
  ];
  expect(all).toHaveLength(Object.keys(engineCaveats).length);
  for (const sentence of all) expect(isEngineCaveat(sentence), sentence).toBe(true);
  for (const other of [
    "isolation preload: the program runs on the host itself",
    "No test command was given, so this ran `npm test`.",
    "Artifact Engine local replaces a memory limit with nothing.",
    "scratch: on disk, 4 GiB",
  ])
    expect(isEngineCaveat(other), other).toBe(false);
});
