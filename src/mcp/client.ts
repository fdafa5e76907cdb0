import type { Environment } from "../config/host/host.ts";

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
