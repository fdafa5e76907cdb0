import { Client, InMemoryTransport, type CallToolResult } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadHostConfig } from "../../src/config/load-config.ts";
import { McpDoor } from "../../src/mcp/mcp-door.ts";
import { exampleOf } from "../../src/mcp/tools/call-tool.ts";
import { offeredTools } from "../../src/mcp/tools/tool-profiles.ts";
import { operationTable } from "../../src/operations/table.ts";
import { createPlatform } from "../../src/platform/platform.ts";
import { floodsOf, mistakesOf } from "../helpers/mcp/mistakes.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";

const engine = "local";
const tools = offeredTools(operationTable, ["all"]);
useGlovebox(engine);

interface Agent {
  call(tool: string, request: Record<string, unknown>): Promise<CallToolResult>;
  list(): ReturnType<Client["listTools"]>;
  close(): Promise<void>;
}
let door: McpDoor;
let agent: Agent;
let stranger: Agent;
beforeAll(async () => {
  const { config, loaded, host } = await loadHostConfig({ settings: { images: {} } });
  const platform = await createPlatform({ config, loaded, host, door: "stdio", defaultEngine: engine });
  door = new McpDoor({ platform, operations: operationTable, version: "0", answerWithinMs: 45_000 });
  agent = await connect("agent");
  stranger = await connect("stranger");
});
afterAll(async () => {
  await agent.close();
  await stranger.close();
  await door.close();
});

async function connect(principal: string): Promise<Agent> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await door.createServer(principal, principal).connect(far);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(near);
  return {
    call: (name, request) => client.callTool({ name, arguments: request }),
    list: () => client.listTools(),
    close: () => client.close(),
  };
}

interface ToolError {
  readonly error_type: string;
  readonly message: string;
  readonly suggestion: string;
}
const errorOf = ({ structuredContent }: CallToolResult): ToolError | undefined =>
  (structuredContent as { readonly error?: ToolError } | undefined)?.error;
const wordsOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n");
/** The maximum length of an error that a model reads. */
const maxLength = 3000;

/** Fields that must name an existing object; the id of a new environment, an agent's own session and a filter need not. */
const isId = (tool: string, field: string): boolean =>
  /(^|_)id$|^uri$/.test(field) &&
  !["create_environment env_id", "run_agent agent_session_id", "list_alerts sandbox_id"].includes(`${tool} ${field}`);

/** What it started, and what has ended or belongs to others. */
interface Ids {
  readonly session: string;
  readonly process: string;
  readonly sandbox: string;
}
const fieldsOf = ({ structuredContent }: CallToolResult): Record<string, unknown> =>
  structuredContent as Record<string, unknown>;

async function begin(who: Agent): Promise<Ids> {
  const ran = fieldsOf(await who.call("run_code", { language: "python", code: "print(1)" }));
  const started = fieldsOf(await who.call("start_process", { command: ["sleep", "300"] }));
  return {
    session: String(ran["session_id"]),
    process: String(started["process_id"]),
    sandbox: String(ran["sandbox_id"]),
  };
}

describe("an id that is none of the caller's, or not of this kind", () => {
  let own: Ids;
  let others: readonly string[];
  beforeAll(async () => {
    const over = await begin(agent);
    await agent.call("end_session", { session_id: over.session });
    own = await begin(agent);
    const foreign = await begin(stranger);
    others = [over.session, over.process, foreign.session, foreign.process, foreign.sandbox];
  });
  /** The allowed values. */
  const fits = (field: string): readonly string[] =>
    ({ session_id: [own.session], process_id: [own.process], id: [own.sandbox], sandbox_id: [own.sandbox] })[field] ??
    [];

  it.each(tools.map(({ name }) => name).concat("view_artifact"))(
    "is told of by %s, and its own still work",
    async (name) => {
      const { tools: listed } = await agent.list();
      const tool = tools.find((each) => each.name === name);
      const { inputSchema } = listed.find((each) => each.name === name) ?? {};
      const fields = Object.keys((inputSchema as { properties?: object } | undefined)?.properties ?? {});
      const wrong: string[] = [];
      for (const field of fields.filter((each) => isId(name, each))) {
        for (const id of ["nothing", own.session, own.process, own.sandbox, ...others]) {
          if (fits(field).includes(id)) continue;
          const right = tool === undefined || field === "run_id" ? {} : exampleOf(tool);
          const answer = await agent.call(name, { ...right, [field]: id });
          const error = errorOf(answer);
          const isTold = error?.message.includes(id) || error?.message.includes(field);
          if (!isTold || !/NOT_FOUND|INVALID_REQUEST/.test(error?.error_type ?? "") || error?.suggestion === "")
            wrong.push(`${field} ${id}: ${wordsOf(answer).slice(0, 300)}`);
        }
      }
      expect(wrong).toEqual([]);
      expect(fieldsOf(await agent.call("list_processes", {}))["processes"]).toMatchObject([
        { process_id: own.process },
      ]);
    },
  );

  it("says nothing of what there is of another", async () => {
    const { session: foreign } = await begin(stranger);
    const [real, made] = [foreign, "ses-00000000000000000000"].map((id) =>
      agent.call("list_files", { session_id: id }),
    );
    const words = async (answer: Promise<CallToolResult> | undefined, id: string): Promise<string> =>
      wordsOf((await answer) ?? { content: [] }).replaceAll(id, "ID");
    expect(await words(real, foreign)).toBe(await words(made, "ses-00000000000000000000"));
  });
});

describe.each(tools.map((tool) => ({ name: tool.name, tool })))("$name", ({ name, tool }) => {
  it("names the field of each mistake and shows the right form", async () => {
    const wrong: string[] = [];
    for (const { field, kind, request } of mistakesOf(tool)) {
      const answer = await agent.call(name, request);
      const error = errorOf(answer);
      const isRight =
        answer.isError === true &&
        error?.error_type === "INVALID_REQUEST" &&
        error.message.includes(field) &&
        error.suggestion.includes("in this form: {") &&
        JSON.stringify(answer).length < 4 * maxLength;
      if (!isRight) wrong.push(`${field}, ${kind}: ${wordsOf(answer).slice(0, 300)}`);
    }
    expect(wrong).toEqual([]);
  });

  it("takes 5 MB in any field, or refuses them in few words", async () => {
    const wrong: string[] = [];
    for (const { field, request } of floodsOf(tool, exampleOf(tool))) {
      const answer = await agent.call(name, request);
      const error = errorOf(answer);
      const isRight = error === undefined || (error.error_type !== "INTERNAL" && error.suggestion !== "");
      const isShort = error === undefined || JSON.stringify(answer).length < 4 * maxLength;
      if (!isRight || !isShort)
        wrong.push(`${field}: ${JSON.stringify(answer).length} characters, ${wordsOf(answer).slice(0, 300)}`);
    }
    expect(wrong).toEqual([]);
  });
});
