import type { Environment } from "../config/host/host.ts";
import { posix, win32, type PlatformPath } from "node:path";

/** What starts the server. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Where a client's files may be. */
export interface ClientPlace {
  readonly platform: NodeJS.Platform;
  readonly homeDirectory: string;
  /** For `APPDATA` and `XDG_CONFIG_HOME`. */
  readonly environment: Environment;
  /** The folder whose project is meant. */
  readonly projectDirectory: string;
}

/** A program that is an MCP client, and how a server is registered with it. */
export interface McpClient {
  /** Its name on the command line. */
  readonly name: string;
  readonly title: string;
  readonly format: "json" | "toml";
  /** Path of keys to the server's entry; the last one is the server's name. */
  readonly keys: readonly string[];
  readonly entry: (command: ServerCommand) => Readonly<Record<string, unknown>>;
  /** The user's own configuration. */
  readonly userFile: (place: ClientPlace) => string;
  /** The configuration of one project; null if the client has none. */
  readonly projectFile: ((place: ClientPlace) => string) | null;
  /** What the user has to do next. */
  readonly next: string;
}

/** Name of the server in every client's configuration. */
const serverName = "glovebox";

const plain = ({ command, args }: ServerCommand): Readonly<Record<string, unknown>> => ({ command, args });
const stdio = (command: ServerCommand): Readonly<Record<string, unknown>> => ({ type: "stdio", ...plain(command) });

const pathOf = (platform: NodeJS.Platform): PlatformPath => (platform === "win32" ? win32 : posix);

const inHome =
  (...parts: readonly string[]) =>
  ({ platform, homeDirectory }: ClientPlace): string =>
    pathOf(platform).join(homeDirectory, ...parts);
const inProject =
  (...parts: readonly string[]) =>
  ({ platform, projectDirectory }: ClientPlace): string =>
    pathOf(platform).join(projectDirectory, ...parts);

/** Where applications keep their configuration: `folder` below the system's standard directory. */
const inApplicationData =
  (...parts: readonly string[]) =>
  (place: ClientPlace): string => {
    const { platform, homeDirectory } = place;
    if (platform === "darwin") return posix.join(homeDirectory, "Library", "Application Support", ...parts);
    return pathOf(platform).join(platform === "win32" ? roaming(place) : configHome(place), ...parts);
  };

const roaming = ({ environment, homeDirectory }: ClientPlace): string =>
  environment["APPDATA"] ?? win32.join(homeDirectory, "AppData", "Roaming");

const configHome = ({ environment, homeDirectory }: ClientPlace): string => {
  const base = environment["XDG_CONFIG_HOME"] ?? "";
  return posix.isAbsolute(base) ? base : posix.join(homeDirectory, ".config");
};

/** The known clients; their files are from the clients' documentation. */
export const mcpClients: readonly McpClient[] = [
  {
    name: "claude-code",
    title: "Claude Code",
    format: "json",
    keys: ["mcpServers", serverName],
    entry: stdio,
    userFile: inHome(".claude.json"),
    projectFile: inProject(".mcp.json"),
    next: "Restart Claude Code; /mcp shows the server.",
  },
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    format: "json",
    keys: ["mcpServers", serverName],
    entry: plain,
    userFile: inApplicationData("Claude", "claude_desktop_config.json"),
    projectFile: null,
    next: "Quit Claude Desktop completely and start it again.",
  },
  {
    name: "codex",
    title: "Codex",
    format: "toml",
    keys: ["mcp_servers", serverName],
    // The first start may have to download the package.
    entry: (command) => ({ ...plain(command), startup_timeout_sec: 60 }),
    userFile: inHome(".codex", "config.toml"),
    projectFile: inProject(".codex", "config.toml"),
    next: "Restart Codex; /mcp shows the server.",
  },
  {
    name: "cursor",
    title: "Cursor",
    format: "json",
    keys: ["mcpServers", serverName],
    entry: stdio,
    userFile: inHome(".cursor", "mcp.json"),
    projectFile: inProject(".cursor", "mcp.json"),
    next: "Enable the server in Cursor's settings, under MCP.",
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    format: "json",
    keys: ["mcpServers", serverName],
    entry: plain,
    userFile: inHome(".gemini", "settings.json"),
    projectFile: inProject(".gemini", "settings.json"),
    next: "Restart Gemini CLI; /mcp shows the server.",
  },
  {
    name: "opencode",
    title: "opencode",
    format: "json",
    keys: ["mcp", serverName],
    entry: ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true }),
    userFile: inHome(".config", "opencode", "opencode.json"),
    projectFile: inProject("opencode.json"),
    next: "Restart opencode.",
  },
  {
    name: "vscode",
    title: "VS Code",
    format: "json",
    keys: ["servers", serverName],
    entry: stdio,
    userFile: inApplicationData("Code", "User", "mcp.json"),
    projectFile: inProject(".vscode", "mcp.json"),
    next: "Run the command `MCP: List Servers` in VS Code and start the server.",
  },
  {
    name: "windsurf",
    title: "Windsurf",
    format: "json",
    keys: ["mcpServers", serverName],
    entry: plain,
    userFile: inHome(".codeium", "windsurf", "mcp_config.json"),
    projectFile: null,
    next: "Refresh the servers in Windsurf's settings, under Cascade.",
  },
  {
    name: "zed",
    title: "Zed",
    format: "json",
    keys: ["context_servers", serverName],
    entry: plain,
    userFile: (place) =>
      place.platform === "win32"
        ? win32.join(roaming(place), "Zed", "settings.json")
        : posix.join(configHome(place), "zed", "settings.json"),
    projectFile: inProject(".zed", "settings.json"),
    next: "Zed starts it at once; the settings of its agent show the server.",
  },
];
