import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findServer, type FoundServer } from "./find-server.ts";

const scripts = (lines: Readonly<Record<string, unknown>>): string => JSON.stringify({ scripts: lines });

describe("what serves a project's page", () => {
  let folder = "";
  beforeEach(() => (folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-find-server-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const find = (files: Readonly<Record<string, string>>, command?: string): Promise<FoundServer> => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    return findServer({ command }, { stablePath: folder }, process.platform);
  };

  it.each([
    ["npm run dev", 5173, { "package.json": scripts({ start: "node x", dev: "vite" }) }],
    ["npm run start", null, { "package.json": scripts({ start: "node server.js", dev: 7 }) }],
    ["npm run serve", 8080, { "package.json": scripts({ serve: "webpack serve", preview: "vite preview" }) }],
    ["npm run preview", 4173, { "package.json": scripts({ preview: "vite preview", dev: " " }) }],
    ["pnpm run dev", 4321, { "package.json": scripts({ dev: "astro dev" }), "pnpm-lock.yaml": "" }],
    ["yarn run dev", 3100, { "package.json": scripts({ dev: "next dev -p 3100" }), "yarn.lock": "" }],
    ["bun run dev", null, { "package.json": scripts({ dev: "bun --hot index.ts" }), "bun.lock": "" }],
    ["python3 manage.py runserver", 8000, { "manage.py": "" }],
    ["python3 -m flask --app app run --debug", 5000, { "app.py": "app = Flask(__name__)" }],
    ["python3 -m uvicorn main:app --reload", 8000, { "main.py": "app = FastAPI()", "package.json": "{}" }],
    ["python3 -m streamlit run app.py --server.headless true", 8501, { "app.py": "import streamlit as st" }],
    ["python3 server.py", null, { "server.py": "import http.server", "app.py": "print(1)" }],
    ["node server.mjs", null, { "server.mjs": "createServer(answer).listen(3000)" }],
    ["python3 -m http.server", 8000, { "index.html": "", "package.json": "{" }],
    ["python3 -m http.server --directory public", 8000, { "public/index.html": "", "main.py": "listen()" }],
  ])("is %s at port %s for %o", async (command, port, files: Readonly<Record<string, string>>) => {
    expect(await find(files)).toEqual({ command, port, why: expect.stringMatching(/./) });
  });

  it("is the command that was given, whose script may say the port", async () => {
    const files = { "package.json": scripts({ web: "vite", dev: "astro dev" }) };
    expect(await find(files, "npm run web")).toEqual({ command: "npm run web", port: 5173, why: null });
  });

  it.each([
    ["nothing", {}],
    ["no JSON", { "package.json": "{" }],
    ["scripts that are none", { "package.json": scripts({ dev: ["vite"], build: "vite build" }) }],
    ["programs that serve nothing", { "main.py": "print(1)", "index.js": "console.log(1)" }],
  ])("cannot be found in %s, and the error says what would", async (_, files: Readonly<Record<string, string>>) => {
    await expect(find(files)).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
      context: { field: "command" },
      message: expect.stringContaining("a script `dev`"),
    });
  });

  it("is not read through a link", async () => {
    const outside = path.join(folder, "outside");
    mkdirSync(outside);
    writeFileSync(path.join(outside, "package.json"), scripts({ dev: "vite" }));
    writeFileSync(path.join(outside, "index.html"), "");
    const project = path.join(folder, "project");
    mkdirSync(project);
    symlinkSync(path.join(outside, "package.json"), path.join(project, "package.json"));
    symlinkSync(outside, path.join(project, "public"));
    const found = findServer({ command: undefined }, { stablePath: project }, process.platform);
    await expect(found).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
  });
});
