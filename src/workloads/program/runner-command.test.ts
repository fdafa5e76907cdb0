import { describe, expect, it } from "vitest";
import { runtimeOf } from "../../languages/language-table.ts";
import { runnerCommand } from "./runner-command.ts";

describe("runnerCommand", () => {
  const source = "text of $(the) 'runner'\n";

  it("hands data to the shell as arguments only", () => {
    for (const toolchain of ["python", "node"] as const) {
      const [sh, option, script, ...rest] = runnerCommand({ toolchain, mainFile: "main.x", source });
      expect([sh, option]).toEqual(["sh", "-c"]);
      expect(script).not.toContain("runner'");
      expect(script).not.toContain("main.x");
      expect(rest).toContain(source);
      expect(rest.at(-1)).toBe("/work/main.x");
    }
  });

  it("has Node load the runner before the main file", () => {
    const command = runnerCommand({ toolchain: "node", mainFile: "main.js", source });
    expect(command.slice(-4)).toEqual(["node", "--require", "/tmp/.glovebox/runner.cjs", "/work/main.js"]);
  });

  it("starts Bun without a shell", () => {
    expect(runnerCommand({ toolchain: "bun", mainFile: "main.ts", source })).toEqual(["bun", "-e", source]);
  });

  it("takes another interpreter and other folders", () => {
    const options = { mainFile: "a.py", source, interpreter: "/opt/py", folder: "/w", runnerFolder: "/r" };
    expect(runnerCommand({ toolchain: "python", ...options }).slice(3)).toEqual([
      "sh",
      "/r",
      "sitecustomize.py",
      source,
      "/opt/py",
      "/w/a.py",
    ]);
  });
});

describe("needsCompiling", () => {
  it.each(["main.ts", "a/b.mts", "c.cts", "v.tsx"])("%s, for Node alone", (path) => {
    expect(runtimeOf("node").needsCompiling(path)).toBe(true);
    expect(runtimeOf("bun").needsCompiling(path)).toBe(false);
  });

  it.each(["main.js", "types.d.ts", "a.d.mts", "data.json", "ts", "a.ts.txt", "main.py"])("not %s", (path) => {
    expect(runtimeOf("node").needsCompiling(path)).toBe(false);
  });
});
