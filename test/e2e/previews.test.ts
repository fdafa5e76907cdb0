import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { engines, useGlovebox, type TestedEngine } from "../helpers/open-glovebox.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";
import type { Alert, Glovebox } from "../helpers/wire-glovebox.ts";

const root = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-previews-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A project with these files, below the folder that requests may name. */
function project(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(root, "project-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  return folder;
}

const server = `
const http = require("node:http"), fs = require("node:fs");
http.createServer((request, response) => {
  if (request.url === "/die") process.exit(3);
  if (request.url === "/throw") { try { null.field } catch (error) { console.error(error) } }
  response.end(request.headers.host + " " + fs.readFileSync("page.txt", "utf8"));
}).listen(Number(process.env.PORT));`;

/** A Glovebox of these tests, with the alerts of its previews. */
function usePreviews(engine: TestedEngine) {
  const alerts: Alert[] = [];
  const settings = { images: testImages, project_roots: [root] };
  const glovebox = useGlovebox(engine, { settings, onAlert: (alert) => void alerts.push(alert) });
  const errorsOf = (id: string): Alert[] =>
    alerts.filter(({ container_id: of, kind }) => of === id && kind === "preview_error");
  return { glovebox, errorsOf };
}

describe.each(engines)("previews on %s", (engine) => {
  const { glovebox, errorsOf } = usePreviews(engine);

  it("answer at their addresses, follow the project, report errors, and end", async () => {
    const folder = project({ "server.js": server, "page.txt": "one" });
    const request = { project_path: folder, command: "node server.js", port: 4100, wait_seconds: 60 };
    const started = await glovebox().previews.start(request);
    const { container_id: id, direct_url: direct = "" } = started;
    expect(started).toMatchObject({ status: "running", port: 4100, sandbox_id: id, engine });
    expect(new URL(started.url).hostname).toMatch(/^[0-9a-z]{32}\.localhost$/);
    expect(await (await fetch(direct)).text()).toBe("localhost:4100 one");
    writeFileSync(path.join(folder, "page.txt"), "two");
    await until(async () => (await (await fetch(direct)).text()) === "localhost:4100 two");
    await fetch(`${direct}throw`);
    await until(() => errorsOf(id).length > 0);
    expect(errorsOf(id)[0]).toMatchObject({
      state: "start",
      message: expect.stringMatching(/^server\.js:5: TypeError: /),
    });
    const row = await glovebox().previews.status({ id });
    expect(row).toMatchObject({ status: "running", alerts: [{ kind: "preview_error" }] });
    expect(row.logs).toContain("TypeError");
    expect(await glovebox().previews.stop({ id })).toMatchObject({ container_id: id });
    expect(errorsOf(id).at(-1)).toMatchObject({ state: "end" });
    await failureOf(glovebox().previews.status({ id }), "NOT_FOUND");
    await expect(fetch(direct)).rejects.toThrow("fetch failed");
    expect((await glovebox().sandboxes()).map(({ sandbox_id: each }) => each)).not.toContain(id);
  });
});

/** Two servers: data at one port first, and later the page at another one. */
const elsewhere = `
const { createServer } = require("node:http");
createServer((request, response) => response.end("data")).listen(4201);
setTimeout(() => createServer((request, response) => {
  response.setHeader("content-type", "text/html").end("<p>" + request.headers.host);
}).listen(4202, () => console.log("at http://localhost:4202/")), 500);`;

describe.each(engines)("previews on %s that are told less than a command and its port", (engine) => {
  const { glovebox } = usePreviews(engine);

  it("serve what the project says, and follow its page to the port that it has", async () => {
    const manifest = JSON.stringify({ scripts: { start: "node none.js", dev: "node dev.js" } });
    const folder = project({ "package.json": manifest, "dev.js": elsewhere });
    const found = await glovebox().previews.start({ project_path: folder, wait_seconds: 60 });
    const { container_id: id, direct_url: direct = "" } = found;
    expect(found.warnings).toContainEqual(expect.stringContaining("this serves `npm run dev`"));
    // Data may have been all that there was at first.
    await until(async () => (await glovebox().previews.status({ id })).port === 4202);
    expect(await (await fetch(direct)).text()).toBe("<p>localhost:4202");
    await glovebox().previews.stop({ id });
    const command = "node dev.js";
    const named = await glovebox().previews.start({ project_path: folder, command, port: 4203, wait_seconds: 60 });
    expect(named).toMatchObject({ status: "running", port: 4202 });
    const note = "does not listen on port 4203 but on 4202, which the preview follows; name it with port: 4202.";
    expect(named.warnings).toContainEqual(expect.stringContaining(note));
    expect(await (await fetch(named.direct_url ?? "")).text()).toBe("<p>localhost:4202");
    await glovebox().previews.stop({ id: named.container_id });
  });
});

describe.each(["docker"] as const)("previews that do not do well on %s", (engine) => {
  const { glovebox, errorsOf } = usePreviews(engine);
  // Other tests have theirs at the same time.
  const isLive = async (id: string): Promise<boolean> =>
    (await glovebox().sandboxes()).some(({ sandbox_id: each }) => each === id);
  type Started = Awaited<ReturnType<Glovebox["previews"]["start"]>>;
  const start = async (files: Readonly<Record<string, string>>, command: string, more = {}): Promise<Started> =>
    glovebox().previews.start({ project_path: project(files), command, port: 4100, wait_seconds: 60, ...more });

  it("whose command ends are an error with its last words, and nothing is left", async () => {
    const failing = await start({ "server.js": "throw new TypeError('at once');" }, "node server.js");
    expect(failing).toMatchObject({
      status: "error",
      error: { message: expect.stringContaining("exit code 1") },
      logs: expect.stringContaining("TypeError: at once"),
    });
    expect(errorsOf(failing.container_id).map(({ state }) => state)).toContain("start");
    const detached = await start({ "server.js": server, "page.txt": "x" }, "node server.js & exit 0");
    // It may have answered before its end was known.
    const rowOf = async ({ container_id: each }: Started) => glovebox().previews.status({ id: each });
    await until(async () => (await rowOf(detached)).status === "error");
    expect((await rowOf(detached)).error?.suggestion).toContain("foreground");
    const dying = await start({ "server.js": server, "page.txt": "x" }, "node server.js");
    expect(dying.status).toBe("running");
    await fetch(`${dying.direct_url}die`).catch(() => undefined);
    const { container_id: id } = dying;
    await until(async () => (await glovebox().previews.status({ id })).status === "error");
    expect((await glovebox().previews.status({ id })).error?.message).toContain("exit code 3");
    expect((await fetch(dying.direct_url ?? "")).status).toBe(502);
    for (const { container_id: each } of [failing, detached, dying]) await until(async () => !(await isLive(each)));
    for (const { container_id: each } of [failing, detached, dying]) await glovebox().previews.stop({ id: each });
  });

  it("that write more than their disk limit, which may be more than memory, are ended, and say so", async () => {
    const fill = (megabytes: number) => `dd if=/dev/zero of=big bs=1M count=${megabytes}`;
    const limits = { memory_mb: 128, disk_mb: 300 };
    const files = { "server.js": server, "page.txt": "x" };
    const started = await start(files, `${fill(150)} && (sleep 2; ${fill(500)}) & node server.js`, { limits });
    expect(started.status).toBe("running");
    const { container_id: id } = started;
    await until(async () => (await glovebox().previews.status({ id })).status === "error");
    expect((await glovebox().previews.status({ id })).error?.message).toContain("more than its limit of 300 MiB");
    await glovebox().previews.stop({ id });
  });

  it("that do not answer are starting, and end at their time limit", async () => {
    const command = "echo waiting; exec sleep 1000";
    const silent = await start({}, command, { wait_seconds: 1, timeout_seconds: 4, image: testImages.javascript });
    expect(silent.status).toBe("starting");
    const { container_id: id, direct_url: direct = "" } = silent;
    expect((await fetch(direct)).status).toBe(503);
    const isKnown = () =>
      glovebox()
        .previews.status({ id })
        .then(
          () => true,
          () => false,
        );
    await until(async () => !(await isKnown()));
    await until(async () => !(await isLive(id)));
    await failureOf(glovebox().previews.stop({ id }), "NOT_FOUND");
  });

  it("that cannot be are refused by the field, before anything starts", async () => {
    const folder = project({});
    const bad = [
      [{ port: 0 }, "port"],
      [{ port: 70_000 }, "port"],
      [{ command: " " }, "command"],
      [{ timeout_seconds: 1e6 }, "timeout_seconds"],
    ] as const;
    for (const [more, field] of bad) {
      const request = { project_path: folder, command: "true", ...more };
      const { message } = await failureOf(glovebox().previews.start(request), "INVALID_REQUEST");
      expect(message).toContain(field);
    }
    const outside = { project_path: "/etc", command: "true" };
    expect((await failureOf(glovebox().previews.start(outside), "INVALID_REQUEST")).message).toContain("project_path");
    const failing = await start({ "package.json": "{}" }, "node server.js", { setup_command: "echo no; exit 7" });
    expect(failing).toMatchObject({ status: "error", error: { error_type: "PACKAGE_INSTALL_FAILED" } });
    expect(failing.logs).toContain("no");
    const given = new AbortController();
    let opened: string | undefined;
    const giving = glovebox().previews.start(
      { project_path: folder, command: "exec sleep 1000", wait_seconds: 0, setup_command: "sleep 1000" },
      {
        signal: given.signal,
        onEvent: (event) => {
          if (event.type === "sandbox") opened = event.sandboxId;
          if (event.type === "progress") given.abort();
        },
      },
    );
    await failureOf(giving, "CANCELLED");
    expect(given.signal.aborted).toBe(true);
    expect(await isLive(opened ?? "")).toBe(false);
  });
});
