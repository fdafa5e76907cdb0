import { describe, expect, it } from "vitest";
import { isolationLevels } from "../operations/contract/wire-values.ts";
import { isAtLeast } from "./isolation.ts";

describe("isAtLeast", () => {
  it("orders the levels as preload < namespaces < container < vm", () => {
    const accepted = isolationLevels.map((level) => isolationLevels.filter((minimum) => isAtLeast(level, minimum)));
    expect(accepted).toEqual([
      ["preload"],
      ["preload", "namespaces"],
      ["preload", "namespaces", "container"],
      ["preload", "namespaces", "container", "vm"],
    ]);
  });
});
