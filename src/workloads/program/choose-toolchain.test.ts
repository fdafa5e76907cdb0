import { describe, expect, it } from "vitest";
import { chooseToolchain, type WantedToolchain } from "./choose-toolchain.ts";

const usual = { language: "typescript", runtime: undefined, usual: "node" } as const satisfies WantedToolchain;

describe("what runs a program", () => {
  it("is the operation's usual runtime, or the one that was asked for", () => {
    expect(chooseToolchain(usual, {}, "docker")).toBe("node");
    expect(chooseToolchain({ ...usual, usual: "bun" }, {}, "docker")).toBe("bun");
    expect(chooseToolchain({ ...usual, runtime: "bun" }, {}, "docker")).toBe("bun");
    expect(chooseToolchain({ ...usual, language: "python" }, { javascript: "bun" }, "local")).toBe("python");
  });

  it("is the only one that an engine has, and another one is refused", () => {
    expect(chooseToolchain(usual, { javascript: "bun" }, "local")).toBe("bun");
    expect(chooseToolchain({ ...usual, runtime: "bun" }, { javascript: "bun" }, "local")).toBe("bun");
    expect(() => chooseToolchain({ ...usual, runtime: "node" }, { javascript: "bun" }, "local")).toThrow(
      /Engine local runs JavaScript and TypeScript with bun alone/,
    );
  });
});
