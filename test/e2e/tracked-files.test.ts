import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { git } from "../helpers/git.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

type Files = Readonly<Record<string, string>>;

const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-tracked-")));
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));

const put = (place: string, name: string, text: string): void => {
  mkdirSync(path.dirname(path.join(place, name)), { recursive: true });
  writeFileSync(path.join(place, name), text);
};

/** A repository whose rules ignore some of its files; it tracks what it has been given first. */
function repository(tracked: Files, untracked: Files = {}): string {
  const place = mkdtempSync(path.join(root, "project-"));
  git(place, "init", "--quiet");
  put(place, ".gitignore", "env/\nnode_modules\n*.log\n");
  for (const [name, text] of Object.entries(tracked)) put(place, name, text);
  git(place, "add", "--force", ".");
  for (const [name, text] of Object.entries(untracked)) put(place, name, text);
  return place;
}

const passes = 'require("node:test")("passes", () => {});';
const server = `
const fs = require("node:fs");
const read = (name) => { try { return fs.readFileSync(name, "utf8") } catch { return "-" } };
require("node:http").createServer((_, response) => {
  response.end(["env/a.log", "env/b.log", "node_modules/dep/index.js"].map(read).join(" "));
}).listen(Number(process.env.PORT));`;

describe.each(engines)("what git tracks, though .gitignore names it, on %s", (engine) => {
  const settings = { images: { ...testImages, ...sessionImages }, project_roots: [root] };
  const glovebox = useGlovebox(engine, { settings });

  it("is in the copy that tests run in: a failing test, and a test's own node_modules", async () => {
    const ok = { "ok.test.js": passes, "fixtures/node_modules/dep/index.js": "module.exports = 7;" };
    const needs = { ...ok, "uses.test.js": `require("./fixtures/node_modules/dep"); ${passes}` };
    const hidden = { "env/failing.test.js": 'require("node:test")("fails", () => { throw new Error("x") });' };
    const run = (place: string) => glovebox().test({ project_path: place, test_command: "node --test" });
    const tracked = await run(repository({ ...needs, ...hidden }));
    expect(tracked).toMatchObject({ verdict: "failed", passed: 2, failed: 1, counted: true });
    expect(tracked.warnings.join(" ")).not.toMatch(/Left out/);
    // A folder of a repository, whose index lies above it.
    const app = repository({ "app/.gitignore": "env/\n", "app/ok.test.js": passes, "app/env/f.test.js": passes });
    expect(await run(path.join(app, "app"))).toMatchObject({ verdict: "passed", passed: 2 });
    const untracked = await run(repository(needs, hidden));
    expect(untracked).toMatchObject({ verdict: "passed", passed: 2, failed: 0 });
  });

  it("is named where its name alone left it out, and where git's own folder is not read", async () => {
    const place = repository({ "ok.test.js": passes }, { ".venv/lib/x.py": "", "src/__pycache__/x.pyc": "" });
    const run = () => glovebox().test({ project_path: place, test_command: "node --test" });
    const response = await run();
    expect(response.verdict).toBe("passed");
    expect(response.warnings).toContain('Left out, since tools make it anew: ".venv", "src/__pycache__".');
    writeFileSync(path.join(place, ".git/index"), "no index");
    expect((await run()).warnings).toContainEqual(
      expect.stringMatching(/^"\.git" has an index that is not understood/),
    );
  });

  it("is in the copy of a preview, and follows what git tracks", async () => {
    const place = repository(
      { "server.js": server, "env/a.log": "one", "node_modules/dep/index.js": "dep" },
      { "env/b.log": "later" },
    );
    const request = { project_path: place, command: "node server.js", port: 4100, setup_command: "", wait_seconds: 60 };
    const { container_id: id, direct_url: direct = "" } = await glovebox().previews.start(request);
    const page = async (): Promise<string> => (await fetch(direct)).text();
    expect(await page()).toBe("one - dep");
    writeFileSync(path.join(place, "env/a.log"), "two");
    await until(async () => (await page()) === "two - dep");
    git(place, "add", "--force", "env/b.log");
    await until(async () => (await page()) === "two later dep");
    git(place, "rm", "--quiet", "--cached", "env/b.log");
    await until(async () => (await page()) === "two - dep");
    await glovebox().previews.stop({ id });
  });
});
