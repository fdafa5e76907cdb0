import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { serveGlovebox } from "../helpers/served-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";

const pieces = ["library", "sessions"].flatMap((name) => {
  const page = readFileSync(path.join(projectFolder, `docs/${name}.md`), "utf8");
  // Recipes have a test of their own.
  const texts = page.replace(/^## Recipes\n[\s\S]*?^## /m, "## ").matchAll(/```ts\n([\s\S]*?)```/g);
  return [...texts].map(([, text = ""]) => text);
});
const [opening = "", ...rest] = pieces;
const moduleOf = (source: string): string => JSON.stringify(pathToFileURL(path.join(projectFolder, source)).href);

/** Where only the embedded engine is found. */
const noContainers = {
  DOCKER_HOST: "unix:///nonexistent/docker.sock",
  CONTAINER_HOST: "unix:///nonexistent/podman.sock",
};

const folder = mkdtempSync(path.join(tmpdir(), "glovebox-library-page-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a piece prints, pasted below the lines that open Glovebox unless it does so itself. */
async function outputOf(piece: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const whole = piece.includes("import ") ? piece : `${opening.split("\n").slice(0, 3).join("\n")}\n${piece}`;
  const text = whole
    .replace('"glovebox"', moduleOf("src/index.ts"))
    .replace('"glovebox/client"', moduleOf("src/client.ts"));
  const file = path.join(folder, "piece.ts");
  writeFileSync(file, text);
  const { stdout } = await promisify(execFile)(process.execPath, [file], {
    cwd: folder,
    env: { ...process.env, ...environment },
    timeout: 60_000,
  });
  return stdout;
}

/** The piece that a word stands in, and only in one. */
function pieceWith(word: string): string {
  const found = pieces.filter((piece) => piece.includes(word));
  if (found.length !== 1) throw new Error(`${found.length} pieces of docs/library.md have ${word}.`);
  return found[0] ?? "";
}

const isOfServer = (piece: string): boolean => piece.includes("connect(");
const isOfImage = (piece: string): boolean => piece.includes("environments.create");

describe("the pieces of docs/library.md and docs/sessions.md", () => {
  useGlovebox("local");

  it("open Glovebox with the lines that the others go below", () => {
    expect(rest.length).toBeGreaterThan(5);
    expect(opening).toMatch(
      /^import \{ createGlovebox \} from "glovebox";\n\nawait using glovebox = await createGlovebox\(\);\n/,
    );
  });

  it.each(pieces.filter((piece) => !isOfServer(piece) && !isOfImage(piece)))("run as pasted: %s", async (piece) => {
    const output = await outputOf(piece, noContainers);
    const isPrinting = /console\.log\(|process\.?\w*\.write\(|process\[stream\]/.test(piece.replaceAll(/"[^"]*"/g, ""));
    expect(output.length > 0).toBe(isPrinting);
  });

  it("print what programs wrote", async () => {
    expect(await outputOf(pieceWith("process[stream]"), noContainers)).toBe("0\n1\n2\n");
    expect(await outputOf(pieceWith("echo.output()"), noContainers)).toBe("ready\nagain\n");
  });

  it("reach a server", async () => {
    await using served = await serveGlovebox();
    const piece = `${pieceWith("connect(").replace("http://127.0.0.1:8420", served.url)}console.log(stdout);`;
    expect(await outputOf(piece, { GLOVEBOX_KEY: served.token })).toBe("42\n\n");
  });
});

describe("the environment of docs/library.md", () => {
  useGlovebox("docker");

  it("runs as pasted", async () => {
    writeFileSync(path.join(folder, "package.json"), '{ "scripts": { "test": "echo tested" } }');
    const piece = `${pieceWith("environments.create").replace("node:24-slim", testImages.javascript)}console.log(ok, stdoutTail);`;
    expect(await outputOf(piece)).toMatch(/^true [\s\S]*\ntested\n/);
  });
});
