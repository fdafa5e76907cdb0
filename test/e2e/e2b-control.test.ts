import { Sandbox as CodeSandbox } from "@e2b/code-interpreter";
import { Sandbox, SandboxNotFoundError } from "e2b";
import { globSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openE2bScene, type E2bScene } from "../helpers/e2b-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";

/** A request as it is, and all that comes back until the server ends the connection. */
async function exchangeRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.end(text);
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

describe("E2B's control API on local", () => {
  useGlovebox("local");
  let scene: E2bScene;
  beforeAll(async () => {
    scene = await openE2bScene({
      GLOVEBOX_SESSION_IDLE_TIMEOUT: "2s",
      GLOVEBOX_E2B_TEMPLATES: '{"mine":"python:3.12-slim"}',
    });
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it("serves the unmodified SDK: create, info, list, timeout, connect, metrics, kill", async () => {
    const sandbox = await Sandbox.create({ metadata: { "a b": "c&d" }, timeoutMs: 60_000, envs: { WORD: "x" } });
    expect(sandbox.sandboxId).toMatch(/^[a-z0-9]{21}$/);
    expect(await sandbox.isRunning()).toBe(true);
    const info = await sandbox.getInfo();
    expect(info).toMatchObject({ templateId: "base", metadata: { "a b": "c&d" }, state: "running" });
    expect(info.endAt.getTime() - info.startedAt.getTime()).toBe(60_000);

    await sandbox.setTimeout(120_000);
    const prolonged = await Sandbox.getInfo(sandbox.sandboxId);
    expect(prolonged.endAt.getTime()).toBeGreaterThan(info.endAt.getTime() + 30_000);
    const again = await Sandbox.connect(sandbox.sandboxId, { timeoutMs: 1_000 });
    expect(again.sandboxId).toBe(sandbox.sandboxId);
    const unchanged = await Sandbox.getInfo(sandbox.sandboxId);
    expect(unchanged.endAt).toEqual(prolonged.endAt);

    const found = await Sandbox.list({ query: { metadata: { "a b": "c&d" }, state: ["running"] } }).nextItems();
    expect(found.map(({ sandboxId }) => sandboxId)).toEqual([sandbox.sandboxId]);
    const others = await Sandbox.list({ query: { metadata: { "a b": "c" } } }).nextItems();
    expect(others).toEqual([]);
    await expect.poll(async () => (await sandbox.getMetrics()).length).toBeGreaterThan(0);
    const [metric] = await sandbox.getMetrics();
    expect(metric?.memTotal).toBeGreaterThan(1024 * 1024);
    expect(metric?.diskUsed).toBeLessThan(1024 * 1024);
    await sandbox.files.write("large", "x".repeat(2 * 1024 * 1024));
    await expect
      .poll(async () => (await sandbox.getMetrics()).at(-1)?.diskUsed, { timeout: 5_000 })
      .toBeGreaterThanOrEqual(2 * 1024 * 1024);

    expect(await sandbox.kill()).toBe(true);
    expect(await sandbox.kill()).toBe(false);
    expect(await sandbox.isRunning()).toBe(false);
    await expect(Sandbox.connect(sandbox.sandboxId)).rejects.toThrow(SandboxNotFoundError);
  });

  it("serves the code interpreter's SDK with its own template", async () => {
    const sandbox = await CodeSandbox.create();
    const { templateId } = await sandbox.getInfo();
    expect(templateId).toBe("code-interpreter-v1");
    await sandbox.kill();
  });

  it("keeps a sandbox for its time, beyond a session's idle time, and ends it then", async () => {
    const sandbox = await Sandbox.create({ timeoutMs: 5_000 });
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    expect(await sandbox.isRunning()).toBe(true);
    await expect.poll(() => sandbox.isRunning()).toBe(false);
    const { status } = await scene.ask(`GET /sandboxes/${sandbox.sandboxId}`);
    expect(status).toBe(404);
  });

  it("lists in pages, newest first", async () => {
    const made = [await Sandbox.create(), await Sandbox.create(), await Sandbox.create()];
    const ids = made.map(({ sandboxId }) => sandboxId);
    const pages = Sandbox.list({ limit: 2 });
    const first = await pages.nextItems();
    const second = await pages.nextItems();
    expect([...first, ...second].map(({ sandboxId }) => sandboxId)).toEqual(ids.toReversed());
    expect([first.length, pages.hasNext]).toEqual([2, false]);
    const old = await scene.ask("GET /sandboxes?order=asc&limit=1");
    expect(old.body).toMatchObject([{ sandboxID: ids[0] }]);
    await Promise.all(made.map((sandbox) => sandbox.kill()));
  });

  it("closes every id of one key to another key", async () => {
    const sandbox = await Sandbox.create();
    const id = sandbox.sandboxId;
    const asOther = { key: scene.other.text };
    const routes: readonly (readonly [string, unknown?])[] = [
      [`GET /sandboxes/${id}`],
      [`DELETE /sandboxes/${id}`],
      [`POST /sandboxes/${id}/connect`, {}],
      [`POST /v2/sandboxes/${id}/connect`, {}],
      [`POST /sandboxes/${id}/timeout`, { timeout: 0 }],
      [`POST /sandboxes/${id}/refreshes`, {}],
      [`GET /sandboxes/${id}/metrics`],
    ];
    for (const [route, body] of routes) {
      const theirs = await scene.ask(route, body, asOther);
      const unknown = await scene.ask(route.replace(id, `${id}x`), body, asOther);
      expect([route, theirs.status, theirs.body.code]).toEqual([route, 404, 404]);
      // It looks as if there were none.
      expect(theirs.body.message?.replace(id, "")).toBe(unknown.body.message?.replace(`${id}x`, ""));
    }
    const listed = await scene.ask("GET /v2/sandboxes", undefined, asOther);
    expect(listed.body).toEqual([]);
    expect(await sandbox.isRunning()).toBe(true);
    await sandbox.kill();
  });

  it("answers nothing without a key of its own", async () => {
    for (const key of ["", "e2b_0123456789abcdef", "gbx_x", scene.mine.text.slice(0, -1)]) {
      const { status, body } = await scene.ask("POST /v2/sandboxes", { templateID: "base" }, { key });
      expect([status, body.code]).toEqual([401, 401]);
    }
    const refused = await scene.ask("GET /sandboxes", undefined, { headers: { origin: "https://evil.example" } });
    expect(refused.status).toBe(403);
    const raw = await exchangeRaw(scene.server.e2bUrl, "GET /sandboxes HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    expect(raw).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("takes a key with E2B's prefix before it, once, and none for another's", async () => {
    const statusOf = async (key: string): Promise<number> =>
      (await scene.ask("GET /v2/sandboxes", undefined, { key })).status;
    const { text } = scene.mine;
    expect(await statusOf(`e2b_${text}`)).toBe(200);
    for (const wrong of [
      `e2b_e2b_${text}`,
      `E2B_${text}`,
      `${text}e2b_`,
      `e2b_${text.slice(0, -1)}`,
      "e2b_",
      "e2b_0000",
    ])
      expect(await statusOf(wrong), wrong.length.toString()).toBe(401);
  });

  it("refuses by name what it does not have", async () => {
    // What holds anyway is no refusal.
    const sandbox = await Sandbox.create({ network: { allowPublicTraffic: false } });
    const id = sandbox.sandboxId;
    const asked: readonly (readonly [string, number, RegExp, unknown?])[] = [
      ["POST /v2/sandboxes", 404, /base, code-interpreter-v1 or mine, got "other"/, { templateID: "other" }],
      ["POST /v2/sandboxes", 400, /templateID/, {}],
      ["POST /v2/sandboxes", 400, /autoPause/, { templateID: "base", autoPause: true }],
      ["POST /v2/sandboxes", 400, /mcp/, { templateID: "base", mcp: {} }],
      ["POST /v2/sandboxes", 400, /volumeMounts/, { templateID: "base", volumeMounts: [{}] }],
      ["POST /v2/sandboxes", 400, /allow_internet_access/, { templateID: "base", allow_internet_access: true }],
      ["POST /v2/sandboxes", 400, /network/, { templateID: "base", network: { allowOut: ["1.1.1.1"] } }],
      ["POST /v2/sandboxes", 400, /allowPublicTraffic/, { templateID: "base", network: { allowPublicTraffic: "no" } }],
      ["POST /v2/sandboxes", 400, /network/, { templateID: "base", network: { denyOut: ["1.1.1.1"] } }],
      ["POST /v2/sandboxes", 400, /network/, { templateID: "base", network: { httpsPorts: [443] } }],
      ["POST /v2/sandboxes", 400, /timeout: expected 1 to/, { templateID: "base", timeout: 0 }],
      ["POST /v2/sandboxes", 400, /novelty/, { templateID: "base", novelty: 1 }],
      ["POST /v2/sandboxes", 400, /envVars/, { templateID: "base", envVars: { "A=B": "x" } }],
      ["POST /v2/sandboxes", 400, /JSON/, "{"],
      [`POST /sandboxes/${id}/pause`, 501, /Pausing/, {}],
      [`POST /sandboxes/${id}/snapshots`, 501, /Snapshots/, {}],
      [`POST /sandboxes/${id}/fork`, 501, /forks/, {}],
      [`PUT /sandboxes/${id}/network`, 501, /network/, {}],
      ["POST /v3/templates", 501, /Building templates/, {}],
      ["GET /volumes", 501, /Volumes/],
      ["GET /secrets", 501, /Secrets/],
      ["GET /nothing", 404, /nothing/],
      ["PATCH /sandboxes", 405, /POST or GET/],
      [`GET /sandboxes/%zz`, 400, /percent-encoding/],
      ["GET /v2/sandboxes?limit=0", 400, /limit/],
      ["GET /v2/sandboxes?nextToken=x", 400, /nextToken/],
      ["GET /v2/sandboxes?metadata=%25", 400, /metadata/],
    ];
    for (const [route, status, message, body] of asked) {
      const answer = await scene.ask(route, body);
      expect([route, answer.status, answer.body.code]).toEqual([route, status, status]);
      expect(answer.body.message).toMatch(message);
    }
    await expect(sandbox.pause()).rejects.toThrow(/not served by Glovebox/);
    await sandbox.kill();
    // A sandbox that is not there is told apart, and another key's is none.
    await expect(sandbox.pause()).rejects.toThrow(SandboxNotFoundError);
    const theirs = await Sandbox.create({ apiKey: scene.other.text });
    for (const missing of [id, theirs.sandboxId, "i0"]) {
      const answer = await scene.ask(`POST /sandboxes/${missing}/fork`, {});
      expect([missing, answer.status]).toEqual([missing, 404]);
    }
    await theirs.kill();
  });

  it("shows the deployment's templates, and refuses those whose images the engine cannot have", async () => {
    const { body } = await scene.ask("GET /v2/templates");
    const names = (body as unknown as readonly { templateID: string }[]).map(({ templateID }) => templateID);
    expect(names).toEqual(["base", "code-interpreter-v1", "mine"]);
    expect((await scene.ask("GET /templates/aliases/mine")).body).toEqual({ templateID: "mine", public: true });
    await expect(Sandbox.create("mine")).rejects.toThrow(/422: Engine local has no images; "python:3.12-slim"/);
    expect(await Sandbox.list().nextItems()).toEqual([]);
  });

  it("is loaded only for a server that is asked for it", () => {
    const sources = globSync("src/**/*.ts").filter((path) => !path.startsWith("src/e2b/"));
    const importers = sources.filter((path) => readFileSync(path, "utf8").includes("/e2b/"));
    expect(importers).toEqual(["src/cli/commands/serve-command.ts"]);
    const statements = readFileSync(importers[0] ?? "", "utf8").match(/^import .*\/e2b\/.*$/gm);
    expect(statements).toEqual([expect.stringMatching(/^import type /)]);
  });

  it("bounds bodies, however large or endless", async () => {
    const huge = await scene.ask("POST /v2/sandboxes", JSON.stringify({ templateID: "x".repeat(2_000_000) }));
    expect([huge.status, huge.body.code]).toEqual([413, 413]);
    const many = await scene.ask("POST /v2/sandboxes", `[${"[],".repeat(60_000)}[]]`);
    expect(many.status).toBe(400);
    const head = `POST /v2/sandboxes HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: ${scene.mine.text}\r\n`;
    const endless = `${head}transfer-encoding: chunked\r\n\r\n${`10000\r\n${" ".repeat(65_536)}\r\n`.repeat(64)}`;
    const answer = await exchangeRaw(scene.server.e2bUrl, endless);
    expect(answer).toMatch(/^HTTP\/1\.1 4(?:00|13) /);
    const short = await exchangeRaw(scene.server.e2bUrl, `${head}content-length: 50\r\n\r\n{}`);
    expect(short).not.toMatch(/^HTTP\/1\.1 2/);
  });

  it("ends the sandboxes of a key that is revoked", async () => {
    const doomed = await scene.server.addKey("doomed");
    const { body } = await scene.ask("POST /v2/sandboxes", { templateID: "base" }, { key: doomed.text });
    const target = { id: String(body["sandboxID"]) };
    const alive = await scene.askSandbox(target, "GET /health");
    expect(alive.status).toBe(204);
    await scene.server.revoke(doomed);
    await expect.poll(async () => (await scene.askSandbox(target, "GET /health")).status).toBe(502);
    const { status } = await scene.ask("GET /v2/sandboxes", undefined, { key: doomed.text });
    expect(status).toBe(401);
  });
});
