import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Checkout } from "./helpers/checkout.ts";

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
import { handle } from "./handler.ts";
import { greetContract } from "./greet-contract.ts";

export const greetHandler = handle(greetContract, ({ now }, { name }) =>
  Promise.resolve({ text: \`Hello, \${name}. It is \${now() > 0 ? "late" : "early"}.\` }));
`;

const toyDoor = `
import { createInterface } from "node:readline";
import { loadHostConfig } from "../config/load-config.ts";
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
      after: "export const handlers: HandlerTable<HandlerNeeds> = new Map<string, LoadHandler<HandlerNeeds>>([",
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
      import { offeredTools } from "./src/mcp/tools/tool-profiles.ts";
      const { paths } = apiDocument({ version: "1", operations });
      const tools = offeredTools(operations, ["all"]).map(({ name }) => name);
      console.log(JSON.stringify({ route: Object.keys(paths["/api/greet"]), isTool: tools.includes("greet") }));
    `);
    expect(JSON.parse(printed)).toEqual({ route: ["post"], isTool: true });
  });
});
