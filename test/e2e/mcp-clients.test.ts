import { Client, StreamableHTTPClientTransport, type CallToolResult } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHttpMcp, type HttpMcp } from "../helpers/http-mcp.ts";
import { clientKinds, type ClientKind } from "../helpers/mcp/client-kinds.ts";
import { connectMcp, revisions, type Revision } from "../helpers/mcp-client.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";

const sandboxes = useOwnSandboxes();
const engine = "local";
let server: HttpMcp;
beforeAll(async () => {
  server = await startHttpMcp(["--engine", engine], sandboxes.environment());
});
afterAll(() => server[Symbol.asyncDispose]());

/** One red pixel. */
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const plotting = `import base64, sys
open('plot.png', 'wb').write(base64.b64decode('${picture}'))
print('\\x1b[31mhead\\x1b[0m', 'x' * 20000, 'tail')
print('warned', file=sys.stderr)
sys.exit(3)`;

interface Agent {
  call(tool: string, request: Record<string, unknown>): Promise<CallToolResult>;
  close(): Promise<void>;
}

async function overStdio(revision: Revision): Promise<Agent> {
  const connection = await connectMcp(revision, ["--engine", engine], sandboxes.environment());
  return { call: (tool, request) => connection.call(tool, request), close: () => connection.client.close() };
}

async function overHttp({ mode }: Revision): Promise<Agent> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: server.headers },
  });
  await client.connect(transport);
  return {
    call: (name, request) => client.callTool({ name, arguments: request }),
    close: () => client.close(),
  };
}

const connections = revisions.flatMap((revision) => [
  { name: `over stdio, ${revision.revision}`, connect: () => overStdio(revision) },
  { name: `over HTTP, ${revision.revision}`, connect: () => overHttp(revision) },
]);

/** The words, with JSON's escapes undone. */
const read = (kind: ClientKind, result: CallToolResult): string =>
  kind
    .seenOf(result)
    .words.replaceAll(String.raw`\"`, '"')
    .replaceAll(String.raw`\n`, "\n");

useGlovebox(engine);

describe.each(connections)("what a model sees $name", ({ connect }) => {
  let agent: Agent;
  const answers: Record<string, CallToolResult> = {};
  const answer = (name: string): CallToolResult => {
    const found = answers[name];
    if (found === undefined) throw new Error(`There was no call ${name}.`);
    return found;
  };
  beforeAll(async () => {
    agent = await connect();
    const ask = async (name: string, tool: string, request: Record<string, unknown>): Promise<CallToolResult> =>
      (answers[name] = await agent.call(tool, request));
    await ask("plot", "execute_code", { language: "py", code: plotting, artifacts: "*.png" });
    await ask("broken", "execute_code", { language: "python", code: "print(1" });
    await ask("refused", "execute_code", { language: "python" });
    const code = `import base64; open('kept.png', 'wb').write(base64.b64decode('${picture}')); print('made')`;
    const { structuredContent } = await ask("session", "run_code", { language: "python", code });
    const { session_id: id } = structuredContent as { readonly session_id: string };
    await ask("text file", "write_file", { session_id: id, path: "a.txt", content: "written" });
    await ask("read text", "read_file", { session_id: id, path: "a.txt" });
    await ask("read picture", "read_file", { session_id: id, path: "kept.png" });
    await ask("no file", "read_file", { session_id: id, path: "b.txt" });
    await ask("files", "list_files", { session_id: id });
    await agent.call("end_session", { session_id: id });
  });
  afterAll(() => agent.close());

  describe.each(clientKinds)("through a client that hands on $name", (kind) => {
    it("holds verdict, error, output and the way to the rest", async () => {
      const seen = read(kind, answer("plot"));
      expect(seen).toMatch(/failed/);
      expect(seen).toMatch(/exit.code\W+3/);
      expect(seen).toMatch(/head x{2000,4000}\s[^]*x{1000,4000} tail/);
      expect(seen).toContain("warned");
      expect(seen).not.toContain("[31m");
      expect(seen).toMatch(/glovebox:.{1,80}stdout/);
      const id = /sbx-[\w-]+/.exec(seen)?.[0];
      expect(id).toBeDefined();
      const rest = await agent.call("read_logs", { id, stream: "stderr" });
      expect(read(kind, rest)).toContain("warned");
      expect(read(kind, answer("broken"))).toMatch(/SYNTAX_ERROR[^]*line 1/);
      expect(read(kind, answer("refused"))).toMatch(/INVALID_REQUEST[^]*code[^]*in this form/);
      expect(read(kind, answer("session"))).toMatch(/made[^]*ses-|ses-[^]*made/);
      expect(read(kind, answer("read text"))).toContain("written");
      expect(read(kind, answer("no file"))).toMatch(/NOT_FOUND[^]*b\.txt/);
      expect(read(kind, answer("files"))).toMatch(/kept\.png/);
    });

    it(`shows pictures: ${kind.picture}`, async () => {
      for (const name of ["plot", "read picture"]) {
        const { pictures } = kind.seenOf(answer(name));
        const seen = read(kind, answer(name));
        const uri = /view_artifact \{"uri":"(glovebox:[^"]+)/.exec(seen)?.[1];
        expect(uri).toBeDefined();
        const viewed = await agent.call("view_artifact", { uri });
        expect(viewed.structuredContent).toBeUndefined();
        const asked = kind.seenOf(viewed);
        expect({ name, pictures, asked: asked.pictures }).toEqual({
          name,
          pictures: kind.picture === "in the answer" ? [picture] : [],
          asked: kind.picture === "only mentioned" ? [] : [picture],
        });
        expect(asked.words).toMatch(/image\/png.*70 bytes/);
      }
    });

    it("has no base64 among its words, and no link", () => {
      for (const result of Object.values(answers)) {
        expect(read(kind, result)).not.toContain(picture.slice(0, 20));
        expect(result.content.map(({ type }) => type)).not.toContain("resource_link");
      }
    });
  });
});

describe("an answer", () => {
  let agent: Agent;
  beforeAll(async () => {
    agent = await overStdio(revisions[1]);
  });
  afterAll(() => agent.close());

  it("has no padding", async () => {
    const { structuredContent } = await agent.call("execute_code", { language: "python", code: "print(1)" });
    expect(structuredContent).toMatchObject({ outcome: "completed", exit_code: 0, stdout: "1\n" });
    expect(JSON.stringify(structuredContent).length).toBeLessThan(220);
  });

  it("says what to do about an artifact that is missing or not a picture", async () => {
    expect(await agent.call("view_artifact", { uri: "glovebox://runs/run-other/x" })).toMatchObject({
      isError: true,
      structuredContent: { error: { error_type: "NOT_FOUND", suggestion: expect.stringContaining("again") } },
    });
    const code = "open('a.png', 'wb').write(bytes(range(256)))";
    const result = await agent.call("execute_code", { language: "python", code, artifacts: ["*"] });
    expect(result.content.map(({ type }) => type)).toEqual(["text"]);
    const uri = /"(glovebox:[^"\\]+)/.exec(JSON.stringify(result.structuredContent).replaceAll("\\", ""))?.[1];
    expect(await agent.call("view_artifact", { uri })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("UNSUPPORTED") }],
    });
  });
});
