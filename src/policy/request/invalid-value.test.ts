import { describe, expect, it } from "vitest";
import { checkChoice } from "./invalid-value.ts";

const engines = ["docker", "podman", "apple", "local"] as const;

describe("checkChoice", () => {
  it("returns a valid choice", () => {
    expect(checkChoice("podman", engines, "engine")).toBe("podman");
  });

  it.each([
    ["dokcer", '"dokcer"', 'Did you mean "docker"?'],
    ["Docker", '"Docker"', 'Did you mean "docker"?'],
    ["zzz", '"zzz"', "Set engine to one of docker, podman, apple, local."],
    ["", '""', "Set engine to one of docker, podman, apple, local."],
    [7, "number", "Set engine to one of docker, podman, apple, local."],
    [Object.create(null), "object", "Set engine to one of docker, podman, apple, local."],
  ])("refuses %o, listing the valid ones", (value, shown, suggestion) => {
    expect(() => checkChoice(value, engines, "engine")).toThrow(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        message: `engine: expected one of docker, podman, apple, local, got ${shown}.`,
        suggestion,
        context: { field: "engine", valid: engines },
      }),
    );
  });
});
