import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { findToolsScript, parseTools, terminalCommand } from "./terminal-command.ts";
import { sensibleSize } from "./terminal-size.ts";

const common = { size: { rows: 24, columns: 80 }, pythonSource: "SOURCE" };

describe("what holds a terminal", () => {
  it.each([
    ["python\nbash\n", { holder: "python", shell: "bash" }],
    ["script\nsh\n", { holder: "script", shell: "sh" }],
    ["none\nsh\n", { holder: "none", shell: "sh" }],
    ["", { holder: "none", shell: "sh" }],
    ["rm -rf\nzsh -c evil", { holder: "none", shell: "sh" }],
  ])("is read from %j", (text, tools) => {
    expect(parseTools(text)).toEqual(tools);
  });

  it("is found by a script that every shell takes", () => {
    const found = execFileSync("sh", ["-c", findToolsScript], { encoding: "utf8" });
    expect(found).toMatch(/^(?:python|script|none)\n(?:bash|sh)\n$/);
  });
});

describe("the command in a terminal", () => {
  it("is a shell when none is named, interactive where there is no terminal", () => {
    const shellOf = (holder: "python" | "none"): readonly string[] =>
      terminalCommand({ ...common, tools: { holder, shell: "bash" }, command: null });
    expect(shellOf("python")).toEqual(["python3", "-I", "-S", "-c", "SOURCE", "24", "80", "bash"]);
    expect(shellOf("none")).toEqual(["bash", "-i"]);
  });

  it("reaches script as one line that a shell reads back as it was", () => {
    const command = ["printf", "<%s>", "it's", 'a "b" $HOME `id`', "", "\\", "line\nbreak"];
    const line = terminalCommand({ ...common, tools: { holder: "script", shell: "sh" }, command })[4] ?? "";
    expect(line).toContain("stty rows 24 cols 80");
    const said = execFileSync("sh", ["-c", line], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    expect(said).toBe('<it\'s><a "b" $HOME `id`><><\\><line\nbreak>');
  });
});

it("takes sizes that make no sense for those of an ordinary terminal", () => {
  expect(sensibleSize({ columns: 132, rows: 50 })).toEqual({ columns: 132, rows: 50 });
  expect(sensibleSize({ columns: 0, rows: -1 })).toEqual({ columns: 80, rows: 24 });
  expect(sensibleSize({ columns: 1e9, rows: Number.NaN })).toEqual({ columns: 80, rows: 24 });
});
