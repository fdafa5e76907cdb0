import { describe, expect, it, afterEach, beforeEach } from "vitest";
import { maxEnvironmentEntries } from "../../operations/contract/wire-values.ts";
import { checkEnvironment, maxEnvironmentBytes, withPlainOutput, shellAssignments } from "./environment-variables.ts";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";

describe("checkEnvironment", () => {
  it.each([
    {},
    { A: "" },
    { _a1: "x=y\nz", LD_PRELOAD: "/x.so", PATH: "/bin", lower: "é😀" },
    JSON.parse('{"__proto__": "kept", "constructor": "kept"}') as Record<string, string>,
  ])("accepts %j and freezes it", (environment) => {
    const checked = checkEnvironment(environment);
    expect(Object.entries(checked)).toEqual(Object.entries(environment));
    expect(Object.isFrozen(checked)).toBe(true);
  });

  it.each(["", "A=B", "=", "A\n", "A\nB", "A\0", "1A", "A-B", "A B", "é", "A.B", " A", "$(x)"])(
    "refuses the name %j",
    (name) => {
      expect(() => checkEnvironment({ [name]: "secret" })).toThrow(
        expect.objectContaining({
          errorType: "INVALID_REQUEST",
          message: `environment[${JSON.stringify(name)}]: expected a name of letters, digits and underscores that does not start with a digit, such as API_URL.`,
        }),
      );
    },
  );

  it.each([
    ["hunter2\0", "environment.TOKEN: expected a value without NUL characters."],
    ["hunter2\ud800", "environment.TOKEN: expected Unicode text, found half a surrogate pair."],
    [5, "environment.TOKEN: expected text, found number."],
    [null, "environment.TOKEN: expected text, found null."],
  ])("refuses the value %j without showing it", (value, message) => {
    expect(() => checkEnvironment({ TOKEN: value as string })).toThrow(
      expect.objectContaining({ errorType: "INVALID_REQUEST", message, context: { field: "environment.TOKEN" } }),
    );
  });

  it("bounds the number of variables", () => {
    const many = (count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`V${index}`, ""]));
    expect(Object.keys(checkEnvironment(many(maxEnvironmentEntries)))).toHaveLength(256);
    expect(() => checkEnvironment(many(257))).toThrow("environment: expected at most 256 variables, found 257.");
  });

  it("bounds the bytes in all, counted in UTF-8", () => {
    expect(checkEnvironment({ A: "x".repeat(maxEnvironmentBytes - 3) })).toBeDefined();
    expect(() => checkEnvironment({ A: "€".repeat(43_690) })).toThrow(
      "environment: expected at most 131072 bytes in all, found 131073.",
    );
  });

  it("names the field it was told", () => {
    expect(() => checkEnvironment({ "a b": "" }, "env")).toThrow(/^env\["a b"\]: /);
  });
});

describe("the variables of a program whose output is no terminal", () => {
  it("ask for no colours", () => {
    expect(withPlainOutput({ A: "1" })).toEqual({ A: "1", NO_COLOR: "1", TERM: "dumb" });
  });

  it.each([{ FORCE_COLOR: "1" }, { CLICOLOR_FORCE: "1" }, { NO_COLOR: "" }])("leave the choice to %j", (own) => {
    expect(withPlainOutput(own)).toEqual({ ...own, TERM: "dumb" });
    expect(withPlainOutput({ ...own, TERM: "xterm" })).toEqual({ ...own, TERM: "xterm" });
  });
});

let folder = "";
beforeEach(() => void (folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"))));
afterEach(() => rmSync(folder, { recursive: true }));

/** What a shell that sources the text has in a variable, byte for byte. */
function sourced(text: string, name: string): string {
  const file = path.join(folder, "env");
  writeFileSync(file, text);
  const script = `set -eu; . "$1"; printf '%s.' "$${name}"`;
  return execFileSync("sh", ["-c", script, "sh", file], { encoding: "utf8" }).slice(0, -1);
}

describe.skipIf(process.platform === "win32")("shellAssignments", () => {
  it.each([
    "plain",
    "",
    "it's",
    "''",
    'a "quoted" b',
    "$HOME `id` $(id) ${PATH}",
    "a\nb\n",
    "a\r\nb\r\n",
    "\\n \\' \\",
    "a;b&c|d>e<f#g*h?i[j]{k,l}!m",
    "grüße \u2028 😀",
    "'; export EVIL=1; '",
    "EOF",
  ])("a shell reads %j as it is", (value) => {
    const text = shellAssignments({ BEFORE: "b", VALUE: value, AFTER: "a" });
    expect(sourced(text, "VALUE")).toBe(value);
    expect(sourced(text, "AFTER")).toBe("a");
    expect(sourced(`${text}EVIL=\${EVIL-none}`, "EVIL")).toBe("none");
  });

  it("leaves out what is no name", () => {
    expect(shellAssignments({ "A;B": "1", "1A": "2", "": "3", OK: "4" })).toBe("export OK='4'\n");
  });
});
