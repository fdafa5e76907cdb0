import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** A copy of the sources to which the recipes of docs/architecture.md are applied: what they add, and where a row goes. */
class Checkout {
  readonly folder = mkdtempSync(path.join(tmpdir(), "glovebox-recipe-"));

  constructor() {
    for (const name of ["src", "package.json"]) cpSync(name, path.join(this.folder, name), { recursive: true });
    for (const name of ["node_modules", "images", "supervisor"]) {
      symlinkSync(path.resolve(name), path.join(this.folder, name));
    }
  }

  add(file: string, text: string): void {
    const at = path.join(this.folder, file);
    mkdirSync(path.dirname(at), { recursive: true });
    writeFileSync(at, text);
  }

  /** Puts a row before the first one of a table, and its import at the top. */
  addRow(file: string, { after, row, imports = "" }: { after: string; row: string; imports?: string }): void {
    const at = path.join(this.folder, file);
    const text = readFileSync(at, "utf8");
    if (text.split(after).length !== 2) throw new Error(`${file} does not have its table as the recipe says.`);
    writeFileSync(at, `${imports}${text.replace(after, () => `${after}\n${row}`)}`);
  }

  /** Runs `glovebox` with these arguments and that input. */
  run(argv: readonly string[], input = ""): Promise<string> {
    return this.#node([path.join(this.folder, "src/cli/main.ts"), ...argv], input);
  }

  /** What a module prints that imports from these sources. */
  print(module: string): Promise<string> {
    return this.#node(["--input-type=module"], module);
  }

  async #node(argv: readonly string[], input: string): Promise<string> {
    const env = { PATH: process.env["PATH"], HOME: this.folder, NODE_NO_WARNINGS: "1" };
    const running = promisify(execFile)(process.execPath, argv, { cwd: this.folder, env, timeout: 60_000 });
    running.child.stdin?.end(input);
    return (await running).stdout;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const greetContract = `
import { z } from "zod";
import { defineOperation } from "./contract/operation-contract.ts";

export const greetContract = defineOperation({
  name: "greet",
  audience: "everyone",
  description: "Greets somebody.",
  request: z.strictObject({ name: z.string().describe("Whom.") }),
  response: z.object({ text: z.string().describe("The greeting.") }),
  routes: [{ method: "POST", path: "/api/greet" }],
  tool: {
    title: "Greeting",
    readOnly: true,
    destructive: false,
    idempotent: true,
    openWorld: false,
    mayTakeLong: false,
    text: ({ text }) => text,
  },
});
`;

const greetHandler = `
import { handle } from "./handling/handler.ts";
import { greetContract } from "./greet-contract.ts";

export const greetHandler = handle(greetContract, ({ now }, { name }) =>
  Promise.resolve({ text: \`Hello, \${name}. It is \${now() > 0 ? "late" : "early"}.\` }));
`;

const toyDoor = `
import { createInterface } from "node:readline";
import { loadHostConfig } from "../config/host-config.ts";
import { toGloveboxError } from "../errors/glovebox-error.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";
import { operationTable } from "../operations/table.ts";
import { createPlatform } from "../platform/platform.ts";

/** A call a line, and an answer a line. */
export async function serveLines(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Promise<void> {
  await using platform = await createPlatform({ ...(await loadHostConfig({})), door: "server" });
  for await (const line of createInterface({ input })) {
    const { operation, request } = JSON.parse(line);
    const contract = operationTable.find(({ name }) => name === operation)!;
    const call = { principal: "toy" };
    const answer = await Promise.resolve()
      .then(() => platform.call(contract, parseRequest(contract, request), call))
      .catch((error: unknown) => ({ refused: toGloveboxError(error).errorType }));
    output.write(JSON.stringify(answer) + "\\n");
  }
}
`;

const toyCommand = `
export const addToyCommand = (program, io, setExitCode) =>
  program.command("toy").action(async () => {
    const { serveLines } = await import("../../toy/serve-lines.ts");
    await serveLines(io.stdin, io.stdout);
    setExitCode(0);
  });
`;

describe("the recipes of docs/architecture.md", () => {
  const checkout = new Checkout();
  afterAll(() => checkout.remove());

  beforeAll(() => {
    checkout.add("src/operations/greet-contract.ts", greetContract);
    checkout.add("src/operations/greet-handler.ts", greetHandler);
    checkout.addRow("src/operations/table.ts", {
      after: "export const operationTable: readonly OperationContract[] = [",
      row: "  greetContract,",
      imports: 'import { greetContract } from "./greet-contract.ts";\n',
    });
    checkout.addRow("src/operations/handlers.ts", {
      after: "export const handlers: HandlerTable = new Map<string, () => Promise<Handler>>([",
      row: '  ["greet", async () => (await import("./greet-handler.ts")).greetHandler],',
    });
    checkout.add("src/toy/serve-lines.ts", toyDoor);
    checkout.add("src/cli/commands/toy-command.ts", toyCommand);
    checkout.addRow("src/cli/command-table.ts", {
      after: "export const commandTable: readonly CommandRow[] = [",
      row: `  {
    name: "toy",
    description: "Answer lines.",
    group: groups.serve,
    examples: ["glovebox toy"],
    next: "nothing.",
    load: async () => (await import("./commands/toy-command.ts")).addToyCommand,
  },`,
    });
  });

  it("make a door, a command that opens it, and an operation that it offers like all others", async () => {
    const lines = [
      { operation: "greet", request: { name: "Ada" } },
      { operation: "greet", request: { name: 3 } },
      { operation: "list_alerts", request: {} },
    ];
    const printed = await checkout.run(["toy"], lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    expect(
      printed
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([{ text: "Hello, Ada. It is late." }, { refused: "INVALID_REQUEST" }, { alerts: [] }]);
    expect(await checkout.run(["--help"])).toContain("toy");
  });

  it("give an operation its route in the document of the API, and its tool to agents", async () => {
    const printed = await checkout.print(`
      import { operationTable as operations } from "./src/operations/table.ts";
      import { apiDocument } from "./src/http/document.ts";
      import { offeredTools } from "./src/mcp/tools/offered-tool.ts";
      const { paths } = apiDocument({ version: "1", operations });
      const tools = offeredTools(operations, ["all"]).map(({ name }) => name);
      console.log(JSON.stringify({ route: Object.keys(paths["/api/greet"]), isTool: tools.includes("greet") }));
    `);
    expect(JSON.parse(printed)).toEqual({ route: ["post"], isTool: true });
  });
});
