import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { openBrowser } from "../helpers/browser.ts";
import { openConsole } from "../helpers/console-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";

/** Tries everything that a page in a frame can try against the page around it, and shows the results. */
const hostilePage = `<!doctype html><h1>the preview</h1><script>
const tried = {};
const attempt = (name, work) => {
  try { tried[name] = String(work()); } catch (error) { tried[name] = "refused: " + error.name; }
};
attempt("document", () => parent.document.title);
attempt("token", () => parent.sessionStorage.getItem("glovebox.token"));
attempt("address", () => parent.location.href);
attempt("frame", () => frameElement === null ? "not shown" : frameElement.sandbox.value = "");
attempt("lead away", () => { top.location.href = "data:text/html,owned"; return "done"; });
attempt("dialog", () => { alert("owned"); return "silent"; });
document.querySelector("h1").title = JSON.stringify(tried);
</script>`;

const server = `import http.server, os, sys, threading
page = open("page.html", "rb").read()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
def complain():
    trace = 'Traceback (most recent call last):\\n  File "serve.py", line 3, in <module>\\nValueError: <img src=x onerror="document.title=1">'
    print(trace, file=sys.stderr, flush=True)
threading.Timer(1, complain).start()
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
`;

const project = path.join(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-preview-")), "shop");
let served: ServedGlovebox;
let browser: Browser | undefined;
useGlovebox("local");
beforeAll(async () => {
  mkdirSync(project);
  writeFileSync(path.join(project, "serve.py"), server);
  writeFileSync(path.join(project, "page.html"), hostilePage);
  served = await serveGlovebox({ GLOVEBOX_PROJECT_ROOTS: path.dirname(project) });
});
beforeEach(async (context) => {
  browser ??= await openBrowser(context);
});
afterAll(async () => {
  await browser?.close();
  await served?.[Symbol.asyncDispose]();
  rmSync(path.dirname(project), { recursive: true, force: true });
});

it("shows a preview in a frame, whose page reaches nothing of the console and leads nowhere", async () => {
  const asked = { project_path: project, command: "python3 serve.py", setup_command: "", wait_seconds: 60 };
  const { status, body } = await served.call("POST", "/api/sandbox/preview", asked);
  expect({ status, body }).toMatchObject({ status: 200, body: { status: "running" } });
  const { container_id: id } = body as { readonly container_id: string };
  const { page, problems } = await openConsole(browser!, served);
  await page.locator(".row", { hasText: id }).filter({ hasText: "Preview" }).click();
  const heading = page.frameLocator("iframe.preview-page").locator("h1");
  await heading.filter({ hasText: "the preview" }).waitFor();
  expect(JSON.parse((await heading.getAttribute("title")) ?? "{}")).toEqual({
    document: "refused: SecurityError",
    token: "refused: SecurityError",
    address: "refused: SecurityError",
    frame: "not shown",
    "lead away": "refused: SecurityError",
    dialog: "silent",
  });
  expect(page.url()).toBe(`${served.url}/#/running/${id}`);
  // What the program writes appears as an alert, with its markup as text.
  await page.keyboard.press("3");
  await page
    .locator(".row", { hasText: "Preview error" })
    .filter({ hasText: '<img src=x onerror="document.title=1">' })
    .first()
    .waitFor();
  expect(await page.title()).toBe("Glovebox");
  expect(await page.locator("#console img, #console script").count()).toBe(0);
  await page.keyboard.press("1");
  await page.locator(".row", { hasText: id }).click();
  await page.getByRole("button", { name: "End" }).click();
  await page.getByRole("button", { name: "End it" }).click();
  await page.locator(".row", { hasText: id }).waitFor({ state: "detached" });
  expect(problems).toEqual([]);
  await page.context().close();
});
