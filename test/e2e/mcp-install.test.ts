import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { parse } from "smol-toml";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { projectFolder } from "../helpers/project-folder.ts";
import { runCommand } from "../helpers/run-command.ts";

let home = "";
beforeEach(() => (home = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"))));
afterEach(() => rmSync(home, { recursive: true }));

const install = (...argv: readonly string[]) =>
  runCommand(["mcp", "install", ...argv], { cwd: home, environment: { HOME: home, XDG_CONFIG_HOME: "" } });
const json = (file: string): unknown => JSON.parse(readFileSync(path.join(home, file), "utf8"));
const command = path.join(projectFolder, "bin/glovebox");

describe("glovebox mcp install", () => {
  it("begins a client's configuration with this checkout's command", async () => {
    expect(await install("cursor", "--engine", "local")).toMatchObject({ exitCode: 0, stderr: "" });
    expect(json(".cursor/mcp.json")).toEqual({
      mcpServers: { glovebox: { type: "stdio", command, args: ["mcp", "--engine", "local"] } },
    });
    expect(await install("cursor", "--engine", "local")).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("already has it"),
    });
  });

  it("keeps what is there, its mode and its link, and a copy", async () => {
    mkdirSync(path.join(home, "dotfiles"));
    mkdirSync(path.join(home, ".config/zed"), { recursive: true });
    const text = '// mine\n{ "theme": "dark", "context_servers": { "other": { "command": "x" } } }\n';
    writeFileSync(path.join(home, "dotfiles/zed.json"), text, { mode: 0o640 });
    symlinkSync(path.join(home, "dotfiles/zed.json"), path.join(home, ".config/zed/settings.json"));
    expect(await install("zed")).toMatchObject({ exitCode: 0 });
    const written = readFileSync(path.join(home, "dotfiles/zed.json"), "utf8");
    expect(written).toMatch(/^\/\/ mine\n/);
    expect(JSON.parse(written.replace("// mine\n", ""))).toEqual({
      theme: "dark",
      context_servers: { other: { command: "x" }, glovebox: { command, args: ["mcp"] } },
    });
    expect(statSync(path.join(home, "dotfiles/zed.json")).mode & 0o777).toBe(0o640);
    expect(readFileSync(path.join(home, "dotfiles/zed.json.before-glovebox"), "utf8")).toBe(text);
  });

  it("writes TOML, and for a project", async () => {
    expect(await install("codex", "--project")).toMatchObject({ exitCode: 0 });
    expect(readFileSync(path.join(home, ".codex/config.toml"), "utf8")).toContain(
      `[mcp_servers.glovebox]\ncommand = ${JSON.stringify(command)}\n`,
    );
    expect(await install("claude-code", "--project")).toMatchObject({ exitCode: 0 });
    expect(json(".mcp.json")).toHaveProperty("mcpServers.glovebox.command", command);
  });

  it("only shows what it would add", async () => {
    const { stdout, exitCode } = await install("vscode", "--print");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ servers: { glovebox: { type: "stdio", command, args: ["mcp"] } } });
    expect(existsSync(path.join(home, ".config"))).toBe(false);
  });

  it("tells machines the same in one JSON object", async () => {
    const told = async (...argv: readonly string[]): Promise<unknown> => {
      const { exitCode, stdout, stderr } = await install(...argv, "--json");
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout.trimEnd().split("\n")).toHaveLength(1);
      return JSON.parse(stdout);
    };
    const own = { client: "codex", command, args: ["mcp"] };
    expect(await told("codex", "--print")).toEqual({ ...own, text: expect.stringContaining("[mcp_servers.glovebox]") });
    const file = path.join(home, ".codex/config.toml");
    expect(existsSync(file)).toBe(false);
    const installed = { ...own, file, backup: null, next: expect.stringMatching(/\w/) };
    expect(await told("codex")).toEqual({ ...installed, changed: true });
    expect(await told("codex")).toEqual({ ...installed, changed: false });
    writeFileSync(file, "model = 'x'\n");
    expect(await told("codex")).toMatchObject({ changed: true, backup: `${file}.before-glovebox` });
    const refused = await install("cursr", "--json");
    expect(refused).toMatchObject({ exitCode: 2, stderr: "" });
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { error_type: "INVALID_REQUEST" } });
  });

  it("refuses what it does not know and what it would break", async () => {
    const unknown = await install("cursr");
    expect(unknown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("Did you mean cursor?") });
    for (const name of ["claude-desktop", "codex", "zed"]) expect(unknown.stderr).toContain(name);
    expect(await install("windsurf", "--project")).toMatchObject({ exitCode: 2 });
    mkdirSync(path.join(home, ".gemini"));
    writeFileSync(path.join(home, ".gemini/settings.json"), "{ broken");
    expect(await install("gemini")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("not valid JSON") });
    expect(readFileSync(path.join(home, ".gemini/settings.json"), "utf8")).toBe("{ broken");
  });

  it("wraps a server that is there, and gives it its command back", async () => {
    mkdirSync(path.join(home, ".cursor"));
    const before = {
      mcpServers: { notes: { command: "npx", args: ["-y", "notes", "/n"], env: { KEY: "v" } }, web: { url: "x" } },
    };
    writeFileSync(path.join(home, ".cursor/mcp.json"), JSON.stringify(before));
    const options = [
      "--wrap",
      "notes",
      "--engine",
      "docker",
      "--network",
      "a.example",
      "--mount",
      "n:rw",
      "--mount",
      "~/m",
    ];
    expect(await install("cursor", ...options)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("wrapped in"),
    });
    const own = ["npx", "-y", "notes", "/n"];
    const given = ["--engine", "docker", "--network", "a.example", "--mount", `${home}/n:rw`, "--mount", "~/m"];
    const args = ["mcp", "wrap", ...given, "--env", "KEY", "--", ...own];
    expect(json(".cursor/mcp.json")).toEqual({
      mcpServers: { ...before.mcpServers, notes: { command, args, env: { KEY: "v" } } },
    });
    expect(await install("cursor", "--unwrap", "notes")).toMatchObject({ exitCode: 0 });
    expect(json(".cursor/mcp.json")).toEqual(before);
    for (const [argv, words] of [
      [["--unwrap", "notes"], "it is not wrapped"],
      [["--wrap", "web"], "it starts no command"],
      [["--wrap", "nothing"], "It has notes, web."],
      [["--wrap", "notes", "--unwrap", "notes"], "to be left out"],
      [["--wrap", "notes", "--mount", ":x"], "--mount"],
    ] as const) {
      expect(await install("cursor", ...argv)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(words) });
    }
    expect(json(".cursor/mcp.json")).toEqual(before);
  });

  it.each(['env = { "A.B" = "1", C = "2" }\n', '[mcp_servers."my notes".env]\n"A.B" = "1"\nC = "2"\n'])(
    "wraps in TOML, with variables as %j",
    async (variables) => {
      mkdirSync(path.join(home, ".codex"));
      const text = `model = "o"\n\n[mcp_servers."my notes"]\ncommand = "uvx"\nargs = ["notes"]\n${variables}`;
      writeFileSync(path.join(home, ".codex/config.toml"), text);
      expect(await install("codex", "--wrap", "my notes")).toMatchObject({ exitCode: 0, stderr: "" });
      const written = readFileSync(path.join(home, ".codex/config.toml"), "utf8");
      expect(written).toContain(`args = [ "mcp", "wrap", "--env", "A.B", "--env", "C", "--", "uvx", "notes" ]`);
      expect(await install("codex", "--unwrap", "my notes")).toMatchObject({ exitCode: 0, stderr: "" });
      const { mcp_servers: servers } = parse(readFileSync(path.join(home, ".codex/config.toml"), "utf8"));
      expect(servers).toEqual({ "my notes": { command: "uvx", args: ["notes"], env: { "A.B": "1", C: "2" } } });
    },
  );
});
