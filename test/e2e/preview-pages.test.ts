import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openBrowser } from "../helpers/browser.ts";
import { startHttpServer, type HttpServerProcess } from "../helpers/http-server.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { until } from "../helpers/until.ts";
import { viteProject } from "../helpers/vite-project.ts";

const root = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-pages-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Row {
  readonly container_id: string;
  readonly url: string;
  readonly status: string;
  readonly logs: string;
}

const page = `<!doctype html><title>page</title><h1 id="h">none</h1><script type="module" src="/main.js"></script>`;
const main = `
import { value } from "./value.js";
const show = (text) => void (document.getElementById("h").textContent = text);
show(value);
import.meta.hot.accept("./value.js", (module) => show(module?.value ?? "broken"));
`;
const vite = "node node_modules/vite/bin/vite.js --port 5173 --strictPort";

describe.each(["docker"] as const)("previews of a server on %s", (engine) => {
  // Checks that the engine is available.
  useGlovebox(engine);

  const serve = (): Promise<HttpServerProcess> =>
    startHttpServer(["--engine", engine], { GLOVEBOX_PROJECT_ROOTS: root, GLOVEBOX_STORE: "off" });
  const start = async (server: HttpServerProcess, request: object): Promise<Row> => {
    const answer = await server.ask("POST /api/sandbox/preview", { wait_seconds: 120, ...request });
    const row = (await answer.json()) as Row;
    expect([answer.status, row]).toMatchObject([200, { status: "running" }]);
    return row;
  };

  it("a page of Vite's is loaded, updated without a reload, and its errors are told with file and line", async (context) => {
    await using browser = await openBrowser(context);
    await using server = await serve();
    const folder = viteProject(root, {
      "index.html": page,
      "main.js": main,
      "value.js": `export const value = "one";`,
    });
    const preview = await start(server, { project_path: folder, command: vite, port: 5173, include_ignored: true });
    const tab = await browser.newPage();
    await tab.goto(preview.url);
    const shows = (text: string): Promise<unknown> => tab.locator("#h", { hasText: text }).waitFor({ timeout: 60_000 });
    await shows("one");
    await tab.evaluate(`window.marker = "kept"`);
    writeFileSync(path.join(folder, "value.js"), `export const value = "two";`);
    await shows("two");
    expect(await tab.evaluate(`window.marker`)).toBe("kept");

    // The page has no rights at the API: not even with the token, which it does not have.
    const token = server.headers["authorization"] ?? "";
    const call = `fetch("${server.url}/api/sandbox", { headers: { authorization: "${token}" } })`;
    expect(await tab.evaluate(`${call}.then(() => "read", () => "refused")`)).toBe("refused");
    await tab.evaluate(`document.cookie = "a=1; Domain=localhost"`);

    // In a frame of a page with another origin, as in an editor's web view.
    const other = await browser.newPage();
    await other.setContent(`<iframe src="${preview.url}"></iframe>`);
    await other.frameLocator("iframe").locator("#h", { hasText: "two" }).waitFor({ timeout: 60_000 });
    await other.close();

    writeFileSync(path.join(folder, "value.js"), `import "./missing.js";\nexport const value = "three";`);
    const { container_id: id } = preview;
    const alerts = async (): Promise<readonly { readonly message: string; readonly state: string }[]> => {
      const answer = await server.ask(`GET /api/alerts?sandbox_id=${id}&kind=preview_error`);
      return ((await answer.json()) as { readonly alerts: [] }).alerts;
    };
    await until(async () => (await alerts()).length > 0);
    expect((await alerts())[0]).toMatchObject({
      state: "start",
      message: expect.stringMatching(/^value\.js:1: .*missing/),
    });
    writeFileSync(path.join(folder, "value.js"), `export const value = "four";`);
    await until(async () => (await alerts()).some(({ state }) => state === "end"));
    const row = await server.ask(`GET /api/sandbox/preview/${id}?wait_seconds=1`);
    expect(((await row.json()) as Row).logs).toContain("VITE");
    // The page's WebSocket does not keep the server from ending.
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
  });

  it("requests for a preview's name never reach the API, and those for another not the preview", async () => {
    await using server = await serve();
    const folder = mkdtempSync(path.join(root, "plain-"));
    const program = `require("node:http").createServer((q, s) => s.end("program " + q.url)).on("upgrade", (q, s) => s.end("HTTP/1.1 101 Ok\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\nopened")).listen(3000)`;
    writeFileSync(path.join(folder, "server.js"), program);
    const preview = await start(server, { project_path: folder, command: "node server.js" });
    const { host, hostname, port } = new URL(preview.url);
    expect(port).toBe(new URL(server.url).port);
    const [token = ""] = hostname.split(".");
    const raw = (line: string, headers: Readonly<Record<string, string>>): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ port: Number(port), host: "127.0.0.1" });
        let text = "";
        socket.on("data", (chunk) => (text += String(chunk)));
        socket.on("close", () => resolve(text));
        const lines = Object.entries({ connection: "close", ...headers }).map(
          ([name, value]) => `${name}: ${value}\r\n`,
        );
        socket.write(`${line} HTTP/1.1\r\n${lines.join("")}\r\n`);
      });
    const { authorization = "" } = server.headers;
    for (const target of ["/", "/mcp", "/healthz", "/%zz", `/${"x".repeat(14_000)}`]) {
      const answer = await raw(`GET ${target}`, { host });
      expect([target.slice(0, 9), answer]).toEqual([target.slice(0, 9), expect.stringContaining(`program ${target}`)]);
      expect(answer).not.toContain("nosniff");
    }
    expect(await raw("GET /api/sandbox", { host, authorization })).toMatch(/^HTTP\/1\.1 502 [\s\S]*PREVIEW_BACKEND/);
    const upgrade = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "a",
    };
    expect(await raw("GET /ws", { host, ...upgrade })).toMatch(/^HTTP\/1\.1 101 [\s\S]*opened$/);
    const asked = async (headers: Readonly<Record<string, string>>): Promise<string> =>
      (await raw("GET /api/sandbox", { authorization, ...headers })).slice(9, 12);
    expect(await asked({ host: new URL(server.url).host })).toBe("200");
    expect(await asked({ host: new URL(server.url).host, origin: `http://${host}` })).toBe("403");
    const foreign = [
      `${token}.localhost.evil:${port}`,
      `x.${host}`,
      `${token}..localhost`,
      `${token}.127.0.0.1`,
      token,
    ];
    for (const each of foreign) expect([each, await asked({ host: each })]).toEqual([each, "403"]);
    expect(await asked({ host: `${"0".repeat(32)}.localhost:${port}` })).toBe("404");
    expect(await raw(`GET http://${host}/`, { host: new URL(server.url).host, authorization })).not.toContain(
      "program",
    );
    expect(server.notice()).not.toContain(token);
    const { container_id: id } = preview;
    expect((await server.ask(`DELETE /api/sandbox/preview/${id}`)).status).toBe(200);
    expect((await server.ask(`GET /api/sandbox/preview/${id}`)).status).toBe(404);
    expect(await asked({ host })).toBe("404");
  });
});
