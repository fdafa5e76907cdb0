import { spawnSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  type Dirent,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { packInto, run } from "../package/packed-package.ts";

/** The command that a client starts. */
interface Entry {
  readonly command: string;
  readonly args: readonly string[];
}
type Read = (text: string) => Entry;

const under =
  (key: string, parse: (text: string) => unknown = JSON.parse): Read =>
  (text) =>
    (parse(text) as Readonly<Record<string, Readonly<Record<string, Entry>>>>)[key]?.["glovebox"] ?? missing(text);
const missing = (text: string): never => {
  throw new Error(`No server in ${text}`);
};
const opencode: Read = (text) => {
  const { mcp } = JSON.parse(text) as { readonly mcp: { readonly glovebox: { readonly command: readonly string[] } } };
  const [command = "", ...args] = mcp.glovebox.command;
  return { command, args };
};

/** How each client reads its own configuration. */
const clients: Readonly<Record<string, Read>> = {
  "claude-code": under("mcpServers"),
  "claude-desktop": under("mcpServers"),
  codex: under("mcp_servers", parseToml),
  cursor: under("mcpServers"),
  gemini: under("mcpServers"),
  opencode,
  vscode: under("servers", parseJsonc),
  windsurf: under("mcpServers"),
  zed: under("context_servers", parseJsonc),
};

const base = mkdtempSync(path.join(tmpdir(), "glovebox-installed-"));
const [project, home] = [path.join(base, "project"), path.join(base, "home")];
afterAll(() => rmSync(base, { recursive: true }));

let problem: string | null = null;
/** What npm printed during the installation. */
let said = "";
useGlovebox("local");
beforeAll(() => {
  mkdirSync(project);
  mkdirSync(home);
  const { filename } = packInto(base);
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ private: true }));
  try {
    // Follows the README, for a single project.
    said = run("sh", ["-c", 'npm install --no-audit --no-fund "$1" 2>&1', "sh", path.join("..", filename)], project);
  } catch (error) {
    problem = `the packages that it needs cannot be installed: ${String(error).slice(0, 300)}`;
  }
});
beforeEach((context) => {
  if (problem === null) return;
  // If tests are mandatory, so is the registry that the checkout itself was installed from.
  if (process.env["GLOVEBOX_TEST_REQUIRE"]) throw new Error(problem);
  context.skip(problem);
});

/** The environment of a user who has just installed it and has only the embedded engine. */
const environment = (): Record<string, string> => ({
  PATH: `${path.dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
  HOME: home,
  DOCKER_HOST: "unix:///nonexistent/docker.sock",
  CONTAINER_HOST: "unix:///nonexistent/podman.sock",
});

/** Starts exactly that command, in that folder, lists its tools and runs a program. */
async function useServer({ command, args }: Entry, cwd: string): Promise<unknown> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({ command, args: [...args], cwd, env: environment(), stderr: "inherit" }),
  );
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["run_code", "execute_code", "run_command"]));
    const code = "const six: number = 6; console.log(six * 7)";
    return (await client.callTool({ name: "run_code", arguments: { code, packages: [] } })).structuredContent;
  } finally {
    await client.close();
  }
}

describe("an installation", () => {
  const tree = (folder: string): readonly Dirent[] => readdirSync(folder, { recursive: true, withFileTypes: true });

  it("is at most 80 MB, without an install script and without a warning", () => {
    const modules = path.join(project, "node_modules");
    const bytes = tree(modules).map((entry) => lstatSync(path.join(entry.parentPath, entry.name)).size);
    expect(bytes.length).toBeGreaterThan(1000);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(80e6);
    const lock = JSON.parse(readFileSync(path.join(modules, ".package-lock.json"), "utf8")) as {
      readonly packages: Readonly<Record<string, { readonly hasInstallScript?: true }>>;
    };
    const scripts = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript);
    expect(Object.keys(lock.packages).length).toBeGreaterThan(50);
    expect(scripts).toEqual([]);
    // Warnings about the machine's own npm settings are not about Glovebox.
    expect(
      said.split("\n").filter((line) => /warn|deprecated/i.test(line) && !/Unknown (?:user|env) config/.test(line)),
    ).toEqual([]);
  });

  it("fetches Bun when a program first needs it, keeps it, and says why where that cannot be", () => {
    const command = (state: string, argv: readonly string[], more: Readonly<Record<string, string>> = {}) => {
      const program = path.join(project, "node_modules/glovebox/dist/cli/main.js");
      return spawnSync(process.execPath, [program, ...argv], {
        env: {
          ...environment(),
          // Node's own folder does not contain Bun.
          PATH: "/usr/local/bin:/usr/bin:/bin",
          XDG_STATE_HOME: path.join(base, state),
          ...more,
        },
        encoding: "utf8",
      });
    };
    const unreachable = {
      npm_config_registry: "http://127.0.0.1:1",
      npm_config_fetch_retries: "0",
      npm_config_cache: path.join(base, "empty"),
    };
    const start = (state: string, language: string, code: string) =>
      command(state, ["run", "--engine", "local", ...language.split(" "), "-c", code], unreachable);
    expect(start("none", "--language python", "print(42)")).toMatchObject({ status: 0, stdout: "42\n" });
    // The Node that runs Glovebox is available.
    expect(start("none", "--language typescript", "console.log(typeof Bun)")).toMatchObject({ stdout: "undefined\n" });
    const inBun = "--language javascript --runtime bun";
    const refused = start("none", inBun, "console.log(42)");
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toMatch(/Bun 1\.4\.5.*is not on this machine: @oven\/bun-\S+ could not be fetched/);
    expect(command("none", ["prepare", "--engine", "local"], unreachable)).toMatchObject({
      status: refused.status,
      stdout: "",
    });
    const ready = "JavaScript and TypeScript on engine local";
    const prepared = command("some", ["prepare", "--json"]);
    expect(JSON.parse(prepared.stdout)).toEqual({
      ready: [ready],
      left_out: [expect.stringContaining("No engine can be used.")],
    });
    expect(command("some", ["prepare", "--engine", "local"], unreachable).stdout).toBe(`ready: ${ready}\n`);
    expect(start("some", inBun, "console.log(42)")).toMatchObject({ status: 0, stdout: "42\n" });
    const write = `const fs = require("fs");
      for (const change of [() => fs.writeFileSync("/opt/glovebox/bun/x", ""), () => fs.chmodSync("/opt/glovebox/bun/bun", 0o777)])
        try { change(); console.log("changed"); } catch (error) { console.log(error.code); }`;
    expect(start("some", inBun, write).stdout).toBe("EROFS\nEROFS\n");
  });
});

const answer = { outcome: "completed", stdout: "42\n", engine: "local" };

/** `npx glovebox mcp install`, for a user with a new home. */
function install(...argv: readonly string[]): { readonly file: string } {
  const set = Object.entries({ ...environment(), XDG_CONFIG_HOME: "" }).map(([name, value]) => `${name}=${value}`);
  const output = run("env", [...set, "npx", "glovebox", "mcp", "install", ...argv, "--json"], project);
  return JSON.parse(output) as { readonly file: string };
}

it.each(Object.entries(clients))("%s starts the installed package from any folder", async (name, read) => {
  const { file } = install(name);
  expect(path.relative(home, file)).not.toMatch(/^\.\./);
  expect(await useServer(read(readFileSync(file, "utf8")), home)).toMatchObject(answer);
});

it("a project's file holds what others can start too", async () => {
  const { file } = install("claude-code", "--project");
  expect(file).toBe(path.join(project, ".mcp.json"));
  const entry = under("mcpServers")(readFileSync(file, "utf8"));
  expect(entry).toMatchObject({ command: "npx", args: ["--no", "glovebox@0.1.0", "mcp"] });
  expect(await useServer(entry, project)).toMatchObject(answer);
});

const page = readFileSync(path.join(projectFolder, "docs/mcp.md"), "utf8");

it.each([
  ["json", under("mcpServers")],
  ["toml", under("mcp_servers", parseToml)],
] as const)("the %s of docs/mcp.md for clients works in the folder of the installation", async (language, read) => {
  const blocks = [...page.matchAll(/```(\w+)\n([\s\S]*?)```/g)].filter(([, found]) => found === language);
  const block = blocks.map(([, , text = ""]) => text).find((text) => /mcp_?servers/i.test(text));
  expect(await useServer(read(block ?? missing("docs/mcp.md")), project)).toMatchObject(answer);
});
