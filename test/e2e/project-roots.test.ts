import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGlovebox } from "../../src/index.ts";
import { startHttpServer } from "../helpers/http-server.ts";
import { startKeyServer } from "../helpers/key-server.ts";
import { connectMcp, revisions } from "../helpers/mcp-client.ts";
import { runCommand } from "../helpers/run-command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  writeFileSync(path.join(folder, "data.txt"), "1\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

const program = { language: "python", code: "print(open('data.txt').read(), end='')" } as const;
const file = (): string => path.join(folder, "data.txt");

/** Each front end's refusal of a file outside the folders that may be used. */
const refusals: Readonly<Record<string, () => Promise<string>>> = {
  "the command line": async () => {
    const argv = ["run", "--engine", "local", "-c", program.code, "--language", "python", "--file", file()];
    return (await runCommand(argv)).stderr;
  },
  "the library": async () => {
    await using glovebox = await createGlovebox({ engine: "local" });
    const running = glovebox.execute({ ...program, contextFiles: [file()] });
    return ((await running.catch((error: unknown) => error)) as { readonly suggestion: string }).suggestion;
  },
  "MCP over stdio": async () => {
    const server = await connectMcp(revisions[0], ["--engine", "local"]);
    const { content } = await server.call("execute_code", { ...program, context_files: [file()] });
    await server.client.close();
    return JSON.stringify(content);
  },
  "a server": async () => {
    await using server = await startHttpServer(["--engine", "local"]);
    return await (await server.ask("POST /api/sandbox/execute", { ...program, context_files: [file()] })).text();
  },
  "a server, to a key": async () => {
    await using server = await startKeyServer();
    const key = await server.addKey("ann");
    return await (await key.ask("POST /api/sandbox/execute", { ...program, context_files: [file()] })).text();
  },
};

describe("a path outside the folders that may be used is refused with the setting that would allow it", () => {
  it.each([
    ["the command line", "GLOVEBOX_PROJECT_ROOTS (project_roots in the configuration file)"],
    ["the library", "option settings.project_roots"],
    ["MCP over stdio", "GLOVEBOX_PROJECT_ROOTS in the environment of `glovebox mcp`"],
    ["a server", "GLOVEBOX_PROJECT_ROOTS in the environment of the server (project_roots in its configuration file)"],
    ["a server, to a key", "mount_roots of this API key in the keys file"],
  ])("%s", async (door, setting) => {
    const refusal = await refusals[door]?.();
    expect(refusal?.replaceAll(/\s+/g, " ")).toContain(setting);
  });

  it("and that setting allows it", async () => {
    const argv = ["run", "--engine", "local", "-c", program.code, "--language", "python", "--file", file()];
    const allowed = await runCommand(argv, { environment: { GLOVEBOX_PROJECT_ROOTS: folder } });
    expect(allowed).toMatchObject({ exitCode: 0, stdout: "1\n" });
    await using glovebox = await createGlovebox({ engine: "local", settings: { project_roots: [folder] } });
    const { stdout } = await glovebox.execute({ ...program, contextFiles: [file()] });
    expect(stdout).toBe("1\n");
  });
});
