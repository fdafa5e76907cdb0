import { wheelsOnlyPip } from "../policy/install-policy.ts";
import { describe, expect, it } from "vitest";
import { hostCommand, installCommand } from "./package-manager.ts";

const sandbox = { folderOf: (path: string) => `/real${path}` };

describe("hostCommand", () => {
  it("has Bun run no script of a package, not even of one that it trusts", () => {
    const [tool, verb, ...options] = hostCommand("bun", ["esbuild"], sandbox, null);
    expect([tool, verb]).toEqual(["bun", "add"]);
    expect(options.slice(0, options.indexOf("--"))).toContain("--ignore-scripts");
    expect(options.slice(options.indexOf("--"))).toEqual(["--", "esbuild"]);
  });
});

describe("installCommand", () => {
  it.each([
    ["npm", "--ignore-scripts"],
    ["pip", "--only-binary"],
  ] as const)("gives %s its option %s, and packages as nothing else", (manager, option) => {
    const command = installCommand(manager, ["--evil"], null);
    expect(command.slice(0, command.lastIndexOf("--"))).toContain(option);
    expect(command.slice(command.lastIndexOf("--"))).toEqual(["--", "--evil"]);
  });

  it.each([null, { ms: 3_600_000, beforeMs: 0, isDemanded: false }])(
    "runs no pip that could start a process",
    (age) => {
      const words = installCommand("pip", ["a"], age);
      const at = words.indexOf(wheelsOnlyPip);
      expect(words.slice(at - 2, at + 2)).toEqual(["python3", "-c", wheelsOnlyPip, "install"]);
    },
  );
});
