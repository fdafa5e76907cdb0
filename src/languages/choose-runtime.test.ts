import { describe, expect, it } from "vitest";
import { chooseRuntime, type WantedRuntime } from "./choose-runtime.ts";

const usual = { language: "typescript", runtime: undefined, usual: "execute" } as const satisfies WantedRuntime;

describe("what runs a program", () => {
  it("is the operation's usual runtime, or the one that was asked for", () => {
    expect(chooseRuntime(usual, {}, "docker")).toBe("node");
    expect(chooseRuntime({ ...usual, usual: "session" }, {}, "docker")).toBe("bun");
    expect(chooseRuntime({ ...usual, runtime: "bun" }, {}, "docker")).toBe("bun");
    expect(chooseRuntime({ ...usual, language: "python" }, { javascript: "bun" }, "local")).toBe("python");
  });

  it("is the only one that an engine has, and another one is refused", () => {
    expect(chooseRuntime(usual, { javascript: "bun" }, "local")).toBe("bun");
    expect(chooseRuntime({ ...usual, runtime: "bun" }, { javascript: "bun" }, "local")).toBe("bun");
    expect(() => chooseRuntime({ ...usual, runtime: "node" }, { javascript: "bun" }, "local")).toThrow(
      /Engine local runs JavaScript and TypeScript with bun alone/,
    );
  });
});
