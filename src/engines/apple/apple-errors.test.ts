import { describe, expect, it } from "vitest";
import { failureKind, failureWords, isServiceFailure } from "./apple-errors.ts";

const hint = "\nEnsure container system service has been started with `container system start`.";

describe("failureKind", () => {
  it.each([
    [
      'internalError: "failed to list containers" (cause: "interrupted: "XPC connection error: Connection invalid"")' +
        hint,
      "down",
    ],
    ['interrupted: "XPC connection error: Connection invalid"' + hint, "down"],
    ["Plugins are unavailable. Start the container system services and retry:", "down"],
    ['interrupted: "XPC connection error: Connection interrupted"' + hint, "interrupted"],
    ["XPC timeout for request to com.apple.container.apiserver/containerList", "late"],
    ["get failed: container x not found", "no-container"],
    [
      'internalError: "failed to delete container" (cause: "notFound: "container with ID x not found"")',
      "no-container",
    ],
    ["container not found: a, b", "no-container"],
    ["no such container: x", "no-container"],
    ["container x is not running", "not-running"],
    [
      'internalError: "failed to kill container" (cause: "invalidState: "no runtime client exists: container is stopped"")',
      "not-running",
    ],
    ["image not found: x", "no-image"],
    ["container already exists: x", "exists"],
    ["container with id x already exists", "exists"],
    [
      'failed to start process 1-2 in container x (cause: "vmexec error: internalError: "failed to find target executable foo"")',
      "unknown",
    ],
    ["anything else", "unknown"],
  ])("%s: %s", (words, kind) => {
    expect(failureKind(words)).toBe(kind);
  });
});

describe("failureWords", () => {
  it.each([
    ["Error: one\n", "one"],
    ["of the program\nError: its own\nError: last\nwith a line more\n", "its own\nError: last\nwith a line more"],
    ["no Error: here", null],
    ["", null],
  ])("%j: %j", (stderr, words) => {
    expect(failureWords(stderr)).toBe(words);
  });
});

describe("isServiceFailure", () => {
  it("distinguishes the service from what it was asked for", () => {
    expect(isServiceFailure(`Error: interrupted: "XPC connection error: Connection invalid"${hint}`)).toBe(true);
    expect(isServiceFailure('Error: internalError: "failed with response: 404 Not Found."')).toBe(false);
    expect(isServiceFailure("")).toBe(false);
  });
});
