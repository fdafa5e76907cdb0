import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { gloveboxEnvironment } from "./mcp-client.ts";
import { projectFolder } from "./project-folder.ts";

/** `glovebox mcp --http 0` at work. */
export interface HttpMcp extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
}

/** Starts it and resolves when it listens. */
export async function startHttpMcp(
  argv: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<HttpMcp> {
  const child = spawn(path.join(projectFolder, "bin/glovebox"), ["mcp", "--http", "0", ...argv], {
    env: gloveboxEnvironment(environment),
    stdio: ["ignore", "inherit", "pipe"],
  });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  let text = "";
  for await (const chunk of child.stderr) {
    text += String(chunk);
    const url = /MCP at (http:\S+)/.exec(text)?.[1];
    if (url === undefined) continue;
    return {
      url,
      child,
      ended,
      [Symbol.asyncDispose]: async () => {
        child.kill("SIGTERM");
        await ended;
      },
    };
  }
  throw new Error(`glovebox mcp --http ended: ${text}`);
}
