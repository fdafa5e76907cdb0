import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { startLines } from "./start-here.tsx";

const home = mkdtempSync(path.join(os.tmpdir(), "glovebox-start-lines-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** The arguments that a shell makes of a line. */
function argumentsOf(line: string, environment: Readonly<Record<string, string>>): readonly string[] {
  const [program = ""] = line.split(" ", 1);
  const script = `${program}() { printf '%s\\0' "$@"; }\n${line}`;
  const text = execFileSync("sh", ["-c", script], { env: environment }).toString();
  return text.split("\0").slice(0, -1);
}

const origin = "http://127.0.0.1:8420";

it.each([
  ["gbx_4k2m7q9x1w3e_secret", "key"],
  ["own-token", "token"],
])("have the form of %j, which is not in them", (token, proof) => {
  const lines = startLines({ origin, token });
  expect(lines.proof).toBe(proof);
  for (const line of [lines.curl, lines.mcp]) {
    expect(line).toContain("Authorization: Bearer $");
    expect(line).not.toContain(token);
  }
});

it("name nobody where the server asks for nobody", () => {
  const lines = startLines({ origin, token: "" });
  expect(lines.proof).toBe("none");
  expect(lines.curl + lines.mcp).not.toContain("Authorization");
});

it("are what a shell understands, wherever the token's file is", () => {
  for (const folder of [".config", "elsewhere"]) {
    mkdirSync(path.join(home, folder, "glovebox"), { recursive: true });
    writeFileSync(path.join(home, folder, "glovebox/token"), `of ${folder}\n`);
  }
  const { curl, mcp } = startLines({ origin, token: "own-token" });
  const body = { language: "python", code: "print(6 * 7)", name: "first-run" };
  const given = argumentsOf(curl, { HOME: home });
  expect(given.slice(0, -1)).toEqual([
    ...["-sS", `${origin}/api/sandbox/execute`],
    ...["-H", "Authorization: Bearer of .config", "-H", "Content-Type: application/json", "-d"],
  ]);
  expect(JSON.parse(given.at(-1) ?? "")).toEqual(body);
  expect(argumentsOf(mcp, { HOME: home, XDG_CONFIG_HOME: path.join(home, "elsewhere") })).toEqual([
    ...["mcp", "add", "--transport", "http", "glovebox", `${origin}/mcp`],
    ...["--header", "Authorization: Bearer of elsewhere"],
  ]);
  const ofKey = startLines({ origin, token: "gbx_1_2" });
  expect(argumentsOf(ofKey.mcp, { GLOVEBOX_KEY: "gbx_a b" }).at(-1)).toBe("Authorization: Bearer gbx_a b");
});
