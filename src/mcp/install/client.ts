import type { Environment } from "../../config/layers/environment-layer.ts";

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

/** A program that is a client of MCP servers, and how it is told of one. */
export interface McpClient {
  /** As the command line names it. */
  readonly name: string;
  readonly title: string;
  readonly format: "json" | "toml";
  /** Keys that lead to the server's entry, the last one being the server's own name. */
  readonly keys: readonly string[];
  readonly entry: (command: ServerCommand) => Readonly<Record<string, unknown>>;
  /** The user's own configuration. */
  readonly userFile: (place: ClientPlace) => string;
  /** That of one project; null where the client has none. */
  readonly projectFile: ((place: ClientPlace) => string) | null;
  /** What the user does next. */
  readonly next: string;
}
