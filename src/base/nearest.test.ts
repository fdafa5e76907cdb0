import { describe, expect, it } from "vitest";
import { nearest } from "./nearest.ts";

describe("nearest", () => {
  it.each([
    ["dokcer", ["auto", "docker", "podman"], "docker"],
    ["PODMAN", ["auto", "docker", "podman"], "podman"],
    ["GLOVEBOX_QUEUE_LIMITS", ["GLOVEBOX_QUEUE_LIMIT", "GLOVEBOX_LOG_LEVEL"], "GLOVEBOX_QUEUE_LIMIT"],
    ["max_container", ["max_containers", "container_runtime"], "max_containers"],
    ["memory", ["memory_mb", "cpus"], "memory_mb"],
    ["kubernetes", ["auto", "docker"], null],
    ["x", ["y", "go"], null],
    ["", ["go"], null],
    ["docker", [], null],
  ])("finds what %j was meant to be among %j", (word, candidates, found) => {
    expect(nearest(word, candidates)).toBe(found);
  });
});
