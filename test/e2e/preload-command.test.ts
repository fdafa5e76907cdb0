import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it } from "vitest";
import { gloveboxEnvironment } from "../helpers/mcp-client.ts";
import { projectFolder } from "../helpers/project-folder.ts";

const command = path.join(projectFolder, "bin/glovebox");
/** A place without namespaces: a user namespace, whose root knows no other users, that allows no further ones. */
const nowhere = [
  ...["unshare", "--user", "--map-root-user", "sh", "-c"],
  'for kind in user mnt; do echo 0 >"/proc/sys/user/max_${kind}_namespaces"; done; exec "$@"',
  ...["sh", command],
] as const;

async function glovebox(...args: readonly string[]): Promise<string> {
  const [program, ...rest] = nowhere;
  const { stdout } = await promisify(execFile)(program, [...rest, ...args], { env: gloveboxEnvironment() });
  return stdout;
}

describe("where there are no namespaces", () => {
  it("the command runs programs at isolation preload, and says so", async () => {
    expect(await glovebox("run", "--engine", "local", "-c", "print(6 * 7)")).toBe("42\n");
    const answer = await glovebox("run", "--engine", "local", "--json", "-c", "print(1)");
    expect(JSON.parse(answer)).toMatchObject({ isolation: "preload", stdout: "1\n" });
  });

  it("root of a namespace that has no other users runs them at isolation namespaces all the same", async () => {
    const args = ["--user", "--map-root-user", command, "run", "--engine", "local", "--json", "-c", "print(1)"];
    const { stdout } = await promisify(execFile)("unshare", args, { env: gloveboxEnvironment() });
    expect(JSON.parse(stdout)).toMatchObject({ isolation: "namespaces", stdout: "1\n" });
  });

  it("an MCP server has sessions whose files last, and that work on after a time limit", async () => {
    const [program, ...rest] = nowhere;
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({
        command: program,
        args: [...rest, "mcp"],
        env: gloveboxEnvironment(),
        stderr: "inherit",
      }),
    );
    try {
      const run = async (request: Readonly<Record<string, unknown>>): Promise<unknown> => {
        const { structuredContent } = await client.callTool({ name: "run_code", arguments: request });
        return structuredContent;
      };
      const python = { language: "python", timeout_seconds: 2 };
      const made = { ...python, code: "open('kept.txt', 'w').write('here')" };
      expect(await run(made)).toMatchObject({ outcome: "completed", isolation: "preload" });
      expect(await run({ ...python, code: "while True: pass" })).toMatchObject({ outcome: "timed_out" });
      const shown = { code: "import fs from 'node:fs'; console.log(fs.readFileSync('kept.txt', 'utf8') as string)" };
      expect(await run(shown)).toMatchObject({ stdout: "here\n", restarted: false });
      const listed = await client.callTool({ name: "list_files", arguments: {} });
      expect(JSON.stringify(listed.content)).toContain("preload");
      expect(listed.isError).toBe(true);
    } finally {
      await client.close();
    }
  });
});
