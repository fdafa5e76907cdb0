import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import { gloveboxEnvironment } from "../helpers/mcp-client.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";

/** What the Inspector's command line prints for a method, parsed from JSON. */
async function inspect(...argv: readonly string[]): Promise<unknown> {
  const inspector = path.join(projectFolder, "node_modules/.bin/mcp-inspector");
  const glovebox = gloveboxCommand;
  const child = spawn(inspector, ["--cli", glovebox, "mcp", "--engine", "local", ...argv], {
    env: gloveboxEnvironment(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await once(child, "close");
  return JSON.parse(text);
}

describe("the Inspector", () => {
  useGlovebox("local");

  it("lists the tools", async () => {
    expect(await inspect("--method", "tools/list")).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: "execute_code" })]),
    });
  });

  it("calls a tool", async () => {
    const request = ["--tool-arg", "language=python", "--tool-arg", "code=print(6 * 7)"];
    expect(await inspect("--method", "tools/call", "--tool-name", "execute_code", ...request)).toMatchObject({
      structuredContent: { outcome: "completed", stdout: "42\n" },
    });
  });
});
