import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import type { PreviewRow } from "../../src/operations/previews-contract.ts";
import { startKeyServer } from "../helpers/key-server.ts";
import { connectMcp, revisions } from "../helpers/mcp-client.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { until } from "../helpers/until.ts";

const project = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-doors-"));
writeFileSync(
  path.join(project, "server.js"),
  `console.error(new TypeError("broken")); require("node:http").createServer({ maxHeaderSize: 1e5 }, (q, s) => s.end("page")).listen(process.env.PORT)`,
);
afterAll(() => rmSync(project, { recursive: true, force: true }));
const request = { project_path: project, command: "node server.js", wait_seconds: 100 };
const roots = { GLOVEBOX_PROJECT_ROOTS: project };

/** The body of a page at its own name, asked for with a header of that many bytes. */
async function askByName(url: string, bytes: number): Promise<string> {
  const { port, host } = new URL(url);
  const asked = get({ host: "127.0.0.1", port, headers: { host, "x-long": "x".repeat(bytes) }, agent: false });
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return text(answer);
}

describe("previews by other doors on local", () => {
  useGlovebox("local");

  it("a key's are found by no other key, which can neither read nor end them", async () => {
    await using server = await startKeyServer([], { ...roots, GLOVEBOX_STORE: "off" });
    const ann = await server.addKey("ann", "--mount-roots", project);
    const bob = await server.addKey("bob", "--mount-roots", project);
    const started = (await (await ann.ask("POST /api/sandbox/preview", request)).json()) as PreviewRow;
    expect(started, started.logs).toMatchObject({ status: "running" });
    const { container_id: id, url, direct_url: direct = "" } = started;
    const routes = [
      `GET /api/sandbox/preview/${id}`,
      `DELETE /api/sandbox/preview/${id}`,
      `GET /api/sandbox/${id}/logs`,
    ];
    for (const route of routes) {
      const answer = await bob.ask(route);
      const said = await answer.text();
      expect([route, answer.status, said.includes(new URL(url).hostname)]).toEqual([route, 404, false]);
    }
    const alerts = await (await bob.ask("GET /api/alerts")).text();
    expect(alerts).not.toContain(id);
    expect(await (await fetch(direct)).text()).toBe("page");
    expect(await askByName(url, 60_000)).toBe("page");
    expect(await askByName(url, 70_000)).toContain("a preview accepts (64 KiB)");
    expect(await askByName(url, 200_000)).toContain("64 KiB to a preview");
    expect((await ann.ask(`GET /api/sandbox/preview/${id}`)).status).toBe(200);
    expect((await ann.ask(`DELETE /api/sandbox/preview/${id}`)).status).toBe(200);
    await expect(fetch(direct)).rejects.toThrow("fetch failed");
  });

  it.each(revisions)(
    "over MCP $revision on stdio they start, tell of errors, and end with their client",
    async (each) => {
      const mcp = await connectMcp(each, ["--engine", "local", "--tools", "preview"], roots);
      try {
        const { tools } = await mcp.client.listTools();
        expect(tools.map(({ name }) => name)).toEqual(
          expect.arrayContaining(["start_preview", "preview_status", "stop_preview"]),
        );
        const start = async (): Promise<Partial<PreviewRow>> => {
          const { structuredContent } = await mcp.call("start_preview", request, { timeout: 110_000 });
          expect(structuredContent).toMatchObject({ status: "running", port: 3000 });
          return structuredContent ?? {};
        };
        const { container_id: id, direct_url: direct = "" } = await start();
        expect(await (await fetch(direct)).text()).toBe("page");
        const status = async (): Promise<Partial<PreviewRow>> =>
          (await mcp.call("preview_status", { id })).structuredContent ?? {};
        await until(async () => (await status()).alerts !== undefined);
        expect((await status()).alerts?.[0]).toMatchObject({
          kind: "preview_error",
          message: expect.stringMatching(/^server\.js:1: TypeError: broken/),
        });
        expect(await mcp.call("stop_preview", { id })).not.toHaveProperty("isError", true);
        expect(await mcp.call("preview_status", { id })).toMatchObject({
          isError: true,
          content: [{ text: expect.stringContaining("There is no preview") }],
        });
        const left = await start();
        await mcp.client.close();
        await until(() =>
          fetch(left.direct_url ?? "").then(
            () => false,
            () => true,
          ),
        );
      } finally {
        await mcp.client.close();
      }
    },
  );
});
