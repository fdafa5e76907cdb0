import { join } from "node:path";
import { errorCode, GloveboxError } from "../errors/glovebox-error.ts";
import { configDirectory } from "./host/host-paths.ts";
import type { Environment } from "./host/host.ts";
import { jsonErrorPosition } from "./json-error-position.ts";
import type { Layer } from "./setting-layers.ts";

/** Where to look for the configuration file, and how to read it. */
export interface FileOptions {
  readonly environment: Environment;
  /** Path given on the command line or by a program. */
  readonly file?: string | undefined;
  /** Where that path was given, for errors; default: `--config`. */
  readonly fileGivenBy?: string | undefined;
  readonly homeDirectory: string;
  /** Reads a file as text; rejects with a `code` like Node's, `ENOENT` if it does not exist. */
  readonly readFile: (path: string) => Promise<string>;
}

/** A file that was read. */
interface FileLayer extends Layer {
  readonly path: string;
}

/**
 * The configuration file: the given one, else the one of `GLOVEBOX_CONFIG`, else the default one, which may be missing.
 * Messages say where the file was named and show no path.
 * @throws INVALID_REQUEST when a named file is missing, or one cannot be read or is not JSON (with line and column)
 */
export async function readFileLayer(options: FileOptions): Promise<FileLayer | null> {
  const { path, name, required } = place(options);
  let text: string;
  try {
    text = await options.readFile(path);
  } catch (cause) {
    const code = errorCode(cause) || "unknown reason";
    if (!required && (code === "ENOENT" || code === "ENOTDIR")) return null;
    const problem = code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
    throw new GloveboxError("INVALID_REQUEST", `The ${name} ${problem}.`, {
      suggestion: "Correct the path or the file's permissions, or leave it out.",
      cause,
    });
  }
  return { source: "file", content: parse(text.replace(/^\ufeff/, ""), name), placeOf: () => name, path };
}

function place(options: FileOptions): { readonly path: string; readonly name: string; readonly required: boolean } {
  const { environment, file, fileGivenBy = "--config", homeDirectory } = options;
  if (file !== undefined) return { path: file, name: `configuration file given by ${fileGivenBy}`, required: true };
  const named = environment["GLOVEBOX_CONFIG"] ?? "";
  if (named !== "") return { path: named, name: "configuration file given by GLOVEBOX_CONFIG", required: true };
  const path = join(configDirectory(environment, homeDirectory), "config.json");
  return { path, name: "default configuration file", required: false };
}

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // JSON.parse's own message quotes the file, which may contain secrets.
    const { line, column } = jsonErrorPosition(text) ?? { line: 1, column: 1 };
    throw new GloveboxError("INVALID_REQUEST", `The ${name} is not JSON: error at line ${line}, column ${column}.`, {
      suggestion: "Correct the file there; JSON allows no comments and no comma after the last entry.",
      context: { line, column },
    });
  }
}
