import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { shellAssignments } from "./shell-assignments.ts";

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
