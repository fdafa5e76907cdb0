import type { CallToolResult } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectMcp, revisions, type McpConnection } from "../helpers/mcp-client.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";

const sandboxes = useOwnSandboxes();
const engine = "local";

/** What a model sees of an answer, by the kind of client that stands between. */
const clients: Readonly<Record<string, (result: CallToolResult) => string>> = {
  // Where an answer has no structured half they hand on its content.
  "only structured content": ({ structuredContent, content }) =>
    structuredContent === undefined ? JSON.stringify(content) : JSON.stringify(structuredContent),
  "only content": ({ content }) => JSON.stringify(content),
  both: (result) => JSON.stringify(result),
};

/** One red pixel. */
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const plotting = `import base64, sys
open('plot.png', 'wb').write(base64.b64decode('${picture}'))
print('\\x1b[31mhead\\x1b[0m', 'x' * 20000, 'tail')
print('warned', file=sys.stderr)
sys.exit(3)`;

describe("what a model sees", () => {
  useGlovebox(engine);
  let agent: McpConnection;
  let plot: CallToolResult;
  beforeAll(async () => {
    agent = await connectMcp(revisions[1], ["--engine", engine], sandboxes.environment());
    plot = await agent.call("execute_code", { language: "py", code: plotting, artifacts: "*.png" });
  });
  afterAll(() => agent.client.close());

  it.each(Object.entries(clients))("through a client that hands on %s", async (_, seenBy) => {
    const seen = seenBy(plot);
    expect(seen).toMatch(/failed/);
    expect(seen).toMatch(/exit.code\W+3/);
    expect(seen).toMatch(/head x{2000,4000}.*x{1000,4000} tail/);
    expect(seen).toContain("warned");
    expect(seen).not.toContain("[31m");
    expect(seen).toMatch(/glovebox:.{1,80}stdout/);
    const uri = /view_artifact \{\\+"uri\\+":\\+"(glovebox:[^"\\]+)/.exec(seen)?.[1];
    expect(uri).toBeDefined();
    const viewed = await agent.call("view_artifact", { uri });
    expect(seenBy(viewed)).toContain(picture);
    expect(viewed.content).toEqual([{ type: "image", data: picture, mimeType: "image/png" }]);

    const broken = seenBy(await agent.call("execute_code", { language: "python", code: "print(1" }));
    expect(broken).toMatch(/SYNTAX_ERROR.*line 1/);
    const refused = seenBy(await agent.call("execute_code", { language: "python" }));
    expect(refused).toMatch(/INVALID_REQUEST.*code.*in this form/);
  });

  it("has no base64 in JSON, no link beside it and no padding", async () => {
    expect(JSON.stringify(plot.structuredContent)).not.toContain(picture.slice(0, 20));
    expect(plot.content.map(({ type }) => type)).toEqual(["text", "image"]);
    const { structuredContent } = await agent.call("execute_code", { language: "python", code: "print(1)" });
    expect(structuredContent).toMatchObject({ outcome: "completed", exit_code: 0, stdout: "1\n" });
    expect(JSON.stringify(structuredContent).length).toBeLessThan(220);
  });

  it("is told what to do about an artifact that is not there or is no picture", async () => {
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
