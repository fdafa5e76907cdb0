import { describe, expect, it } from "vitest";
import { ErrorScanner, type PreviewError } from "./error-scanner.ts";

/** All that these lines tell of, in their order. */
function told(text: string): readonly (PreviewError | "recovered")[] {
  const all: (PreviewError | "recovered")[] = [];
  const scanner = new ErrorScanner({
    onError: (error) => void all.push(error),
    onRecovery: () => void all.push("recovered"),
  });
  for (const line of text.split("\n")) scanner.line(line);
  scanner.flush();
  return all;
}

const vite = `3:48:29 AM [vite] Internal server error: Failed to resolve import "./nope.js" from "main.js". Does the file exist?
  Plugin: vite:import-analysis
  File: /work/project/src/main.js:12:8
  1  |  import "./nope.js";
      at TransformPluginContext._formatLog (file:///work/project/node_modules/vite/dist/node/chunks/node.js:8865:39)`;
const next = ` ⨯ ./app/page.tsx:5:1
Parsing ecmascript source code failed
> 5 | export default
Expected an expression`;
const nextInBrowser = `[browser] ./app/word.jsx:6:14
Error: Unexpected token \`=\`. Expected yield, an identifier, [ or {
> 6 | export const = 1;

Parsing ecmascript source code failed`;
const webpack = `ERROR in ./src/index.js 3:4
Module parse failed: Unexpected token (3:4)
You may need an appropriate loader`;
const babel = `Failed to compile.

SyntaxError: /work/project/src/App.js: Unexpected token (7:10)`;
const esbuild = `✘ [ERROR] Expected ";" but found "y"

    src/app.ts:3:4:`;
const node = `/work/project/server.js:3
  throw new TypeError("boom");
  ^

TypeError: boom
    at Object.<anonymous> (/work/project/lib/a.js:9:9)
    at node:internal/main/run_main_module:36:49`;
const library = `Error: connect refused
    at connect (/work/project/node_modules/pg/lib/client.js:4:5)
    at async start (file:///work/project/db.mjs:8:3)`;
const python = `Traceback (most recent call last):
  File "/usr/lib/python3.12/site-packages/flask/app.py", line 1498, in __call__
    return self.wsgi_app(environ, start_response)
  File "/work/project/app.py", line 8, in index
    return missing
NameError: name 'missing' is not defined`;
const pythonSyntax = `  File "/work/project/app.py", line 2
    def (:
        ^
SyntaxError: invalid syntax`;

describe("errors in the output of a preview", () => {
  it.each([
    ["Vite's", vite, "src/main.js", 12, /Failed to resolve import/],
    ["Next's", next, "app/page.tsx", 5, /page\.tsx/],
    ["those that Next shows in the browser", nextInBrowser, "app/word.jsx", 6, /word\.jsx/],
    ["webpack's", webpack, "src/index.js", 3, /ERROR in/],
    ["those that Babel found", babel, "src/App.js", 7, /Failed to compile/],
    ["esbuild's", esbuild, "src/app.ts", 3, /Expected ";"/],
    ["Node's", node, "lib/a.js", 9, /TypeError: boom/],
    ["of a library called by the project", library, "db.mjs", 8, /connect refused/],
    ["Python's", python, "app.py", 8, /NameError: name 'missing'/],
    ["of Python's syntax", pythonSyntax, "app.py", 2, /SyntaxError/],
  ])("%s are found with file, line and the lines", (_, text, file, line, summary) => {
    const [error, ...more] = told(text);
    expect(more).toEqual([]);
    expect(error).toMatchObject({ place: { file, line }, summary: expect.stringMatching(summary) as string });
  });

  it.each([
    "3:48:26 AM [vite] (client) hmr update /main.js",
    " ✓ Compiled in 80ms",
    "webpack 5.90.0 compiled successfully in 33 ms",
    "Compiled successfully!",
    "webpack 5.90.0 compiled with 2 warnings in 33 ms",
  ])("%s tells that it is over", (line) => expect(told(`${babel}\n${line}`).at(-1)).toBe("recovered"));

  it.each([
    "GET /errors 200 in 3 ms",
    "0 errors, 0 warnings",
    "Listening at http://localhost:3000",
    "webpack 5.90.0 compiled with 1 error in 30 ms",
    "[browser] loaded http://localhost:3000/app.js:1:2",
    "look at (http://localhost:3000/a.js:1:2)",
  ])("%s is none", (line) => expect(told(`before\n${line}\nafter`)).toEqual([]));

  it("each is bounded, and what follows is looked at again", () => {
    const errors = told(`${vite}\n${"filler\n".repeat(100)}${python}`);
    expect(errors).toHaveLength(2);
    expect(errors.every((error) => error !== "recovered" && error.lines.length <= 30)).toBe(true);
  });
});
