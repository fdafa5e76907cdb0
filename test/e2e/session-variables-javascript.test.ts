import { describe, expect, it } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { rareTag } from "../lanes/lanes.ts";

/** One red pixel. */
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** Each with the runtime of its images, if there is one. */
const cases = engines.flatMap((engine) =>
  (["bun", "node"] as const).map((runtime) => ({ name: `${runtime} on ${engine}`, engine, asked: { runtime } })),
);

describe.each(cases)("a session that keeps variables of $name", ({ engine, asked }) => {
  const lane = { tags: engine === "docker" ? [] : [rareTag] };
  const images = {
    ...sessionImages,
    session: asked.runtime === "node" ? testImages.javascript : sessionImages.session,
  };
  const glovebox = useGlovebox(engine, { settings: { images } });

  async function open(
    language: "javascript" | "typescript",
  ): Promise<(code: string, more?: Partial<RunCodeRequest>) => Promise<RunCodeResponse>> {
    const usual = { ...asked, language, packages: [] };
    const { session_id: id } = await glovebox().runCode({ ...usual, code: "0", keep_variables: true });
    return (code, more = {}) => glovebox().runCode({ ...usual, code, session_id: id, ...more });
  }

  it("has what earlier calls declared and imported, may declare it again, and shows the last value", lane, async () => {
    const run = await open("typescript");
    const first = await run(
      "import { sep } from 'node:path';\nimport type { Stats } from 'node:fs';\nconst x: number = await Promise.resolve(6);\nlet { a, b: [c] } = { a: 1, b: [2] };\nclass Point { constructor(readonly y = 3) {} }\nenum Kind { One = 1 }\nfunction helper(): number { return 1 }\nconst outer = () => helper() + x;\nfor (var i = 0; i < 3; i++);\nconsole.log('made')",
    );
    expect(first, first.stderr).toMatchObject({
      outcome: "completed",
      stdout: "made\n",
      displays: [],
      variables_lost: false,
    });
    const values = "[x * 7, sep, a, c, new Point().y, Kind.One, i, outer(), helper.name].join(' ')";
    const second = await run(`process.stderr.write('err'); ${values}`);
    expect(second).toMatchObject({ stderr: "err", stdout: "", exit_code: 0, restarted: false });
    expect(second.displays).toEqual([
      {
        ...{ value: 0, is_result: true, media_type: "text/plain", encoding: "utf8" },
        content: "'42 / 1 2 3 1 3 7 helper'",
      },
    ]);
    await run("const x = 1; function helper() { return 2 }; let a; class Point { y = 'new' }");
    expect((await run("[x, outer(), String(a), new Point().y].join(' ')")).displays?.[0]?.content).toBe(
      "'1 3 undefined new'",
    );
    expect((await run("const crypto = 5, fetch = 6; crypto + fetch")).displays?.[0]?.content).toBe("11");
    expect((await run("(async () => 'awaited')()")).displays?.[0]?.content).toBe("'awaited'");
    expect(
      (await run("const f = await import('node:fs'); typeof f.readFileSync + typeof require('os').cpus")).displays?.[0]
        ?.content,
    ).toBe("'functionfunction'");
  });

  it("reports the errors of each call in its own words, and goes on", lane, async () => {
    const run = await open("javascript");
    await run("const kept = 1;\nfunction fails() {\n  throw new RangeError('no')\n}");
    const failed = await run("\nfails()");
    expect(failed).toMatchObject({ outcome: "failed", exit_code: 1, variables_lost: false });
    expect(failed.stderr).toMatch(/^[^]*RangeError: no\n[^]*<call \d+>:3[^]*<call \d+>:2[^]*$/);
    // Bun's column of a thrown error is that of its call's end.
    const [thrown, called] = asked.runtime === "node" ? [9, 25] : [23, 30];
    await run("function fails() {\n  throw new RangeError('no')\n}");
    const placed = await run("const a = 1; let [b] = [fails(a)]");
    expect(placed.stderr).toMatch(
      new RegExp(
        `^.*RangeError: no\\n +at fails \\(<call \\d+>:2:${thrown}\\)\\n +at .*<call \\d+>:1:${called}\\)?\\n$`,
      ),
    );
    const compiled = "// first\n\n\nenum Kind { A = 7 }\n\n\n  null.x; Kind.A";
    const { stderr } = await run(compiled, { language: "typescript" });
    expect(stderr).toMatch(/TypeError: .*null[^]*<call \d+>:7:[378]\)?\n$/);
    const decorated = "\n\ninterface A {}\n\nconst d = () => null.x;\n@d class C {}";
    expect((await run(decorated, { language: "typescript" })).stderr).toMatch(
      /TypeError: .*null.*\n.*<call \d+>:5:\d\d\)?\n/,
    );
    const mistaken = await run("let fine = 1;\nlet x = ;");
    expect(mistaken).toMatchObject({
      outcome: "failed",
      error: { error_type: "SYNTAX_ERROR", context: { line: 2, column: 9 } },
    });
    expect(await run("process.exit(3)")).toMatchObject({ outcome: "failed", exit_code: 3, variables_lost: false });
    expect(await run("Promise.reject(new Error('loose')); await new Promise(() => {})")).toMatchObject({
      exit_code: 1,
    });
    const missing = await run("import gone from 'gb-gone'");
    expect(missing).toMatchObject({ outcome: "failed", error: { error_type: "NOT_FOUND" }, variables_lost: false });
    const empty = await run("console.log(JSON.stringify(require('node:fs').readFileSync(0, 'utf8')))");
    expect(empty).toMatchObject({ outcome: "completed", stdout: '""\n' });
    const args = { args: ["one"] };
    expect(await run("console.log(process.argv.slice(2), kept, process.cwd())", args)).toMatchObject({
      stdout: "[ 'one' ] 1 /work\n".replaceAll("'", asked.runtime === "node" ? "'" : '"'),
    });
  });

  it("answers with the exception that ended a call, bounded and plain, and with none otherwise", lane, async () => {
    const run = await open("typescript");
    const { exception, stderr } = await run(
      "function fails(): void {\n  throw new RangeError('no \\u001b[31mred')\n}\nfails()",
    );
    expect(exception).toMatchObject({ name: "RangeError", value: "no red" });
    expect(exception?.traceback).toBe(stderr.trimEnd().replaceAll("\u001b[31m", ""));
    expect(exception?.traceback).toMatch(/<call \d+>:2/);
    expect(exception?.traceback).not.toMatch(/main\.js/);
    expect((await run("const a = 1\nlet x = ;")).exception).toMatchObject({
      name: "SyntaxError",
      value: expect.stringMatching(/:2:9: /) as string,
    });
    expect((await run("throw { a: 1 }")).exception).toMatchObject({ name: "object", value: "{ a: 1 }" });
    expect((await run("throw null")).exception).toMatchObject({ name: "null", value: "null" });
    for (const code of ["1", "process.exit(3)", "process.exitCode = 2"]) {
      expect(await run(code), code).not.toHaveProperty("exception");
    }
    // The code of an earlier call is not that of the next.
    expect(await run("1")).toMatchObject({ outcome: "completed", exit_code: 0 });
    const long = await run("const long = new Error('é'.repeat(1e6)); long.name = 'N'.repeat(1e6); throw long");
    expect(long.exception?.name).toMatch(/^N{75} \[... \d+ characters left out ...\] N{75}$/);
    expect(long.exception?.value).toMatch(/^é{1975}\n\[... 996050 characters left out ...\]\né{1975}$/);
    expect(long.exception?.traceback.length).toBeLessThan(16_100);
    const hostile =
      "class Bad extends Error { get name() { throw 1 } get message() { throw 2 } get stack() { throw 3 } }\nthrow new Bad()";
    const bad = await run(hostile);
    expect(bad, JSON.stringify(bad)).toMatchObject({
      exit_code: 1,
      exception: { name: "Error" },
      variables_lost: false,
    });
  });

  it("has its streams again after a call that ended or replaced them", lane, async () => {
    const run = await open("javascript");
    for (const trick of [
      "process.stdout.end('bye\\n'); process.stderr.destroy(); process.stdin.destroy()",
      "process.stdout.write = () => true; process.stderr.end = null",
      "Object.defineProperty(process, 'stdout', { value: { write() {} }, configurable: true })",
      "fs.closeSync(1); fs.closeSync(0)",
      "fs.closeSync(1); const held = fs.openSync('other', 'w')",
    ]) {
      await run(`const fs = require('node:fs'); ${trick}`);
      const next = await run(
        "let text = ''; for await (const chunk of process.stdin) text += chunk; console.log('é' + text); process.stdout.write('w'); process.stderr.write('e')",
      );
      expect(next, trick).toMatchObject({ outcome: "completed", stdout: "é\nw", stderr: "e", variables_lost: false });
    }
    expect(await run("\uFEFFconst x: number = 7; x", { language: "typescript" })).toMatchObject({
      displays: [{ content: "7" }],
    });
  });

  it("gives one call environment variables of its own, and then what was there", lane, async () => {
    const run = await open("javascript");
    const seen =
      "console.log(process.env.GB_A, process.env.GB_B, require('child_process').execSync('echo $GB_A').toString().trim())";
    await run("process.env.GB_A = 'mine'");
    expect(await run(seen, { environment: { GB_A: "é=1", GB_B: "b" } })).toMatchObject({ stdout: "é=1 b é=1\n" });
    expect(await run(seen)).toMatchObject({ stdout: "mine undefined mine\n" });
    for (const code of [
      "process.env.GB_A = 'other'; process.env.GB_C = 'c'; throw new Error('no')",
      "delete process.env.GB_B; process.exit(3)",
      "process.env = { ...process.env }; await Promise.reject(new Error('no'))",
    ]) {
      expect(await run(code, { environment: { GB_A: "1", GB_B: "2" } }), code).toMatchObject({ outcome: "failed" });
      expect(await run(seen), code).toMatchObject({ stdout: "mine undefined mine\n", variables_lost: false });
    }
    expect(await run("process.env.GB_C")).toMatchObject({ displays: [{ content: "'c'" }] });
  });

  it("shows tables, pictures and what a value says of itself", lane, async () => {
    const run = await open("javascript");
    expect((await run("[{ a: 1, b: '<i>' }]")).displays).toMatchObject([
      { media_type: "text/plain" },
      {
        media_type: "text/html",
        content: "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>&lt;i&gt;</td></tr></table>",
      },
    ]);
    const rich = await run(
      `display('first'); ({ [Symbol.for('Jupyter.display')]: () => ({ 'text/plain': 'p', 'image/png': '${picture}', 'application/json': { x: [1] }, 'x/y': 'no' }) })`,
    );
    expect(rich.displays).toEqual([
      { value: 0, is_result: false, media_type: "text/plain", encoding: "utf8", content: "'first'" },
      { value: 1, is_result: true, media_type: "text/plain", encoding: "utf8", content: "p" },
      { value: 1, is_result: true, media_type: "image/png", encoding: "base64", content: picture },
      { value: 1, is_result: true, media_type: "application/json", encoding: "utf8", content: '{"x":[1]}' },
    ]);
    expect((await run(`Buffer.from('${picture}', 'base64')`)).displays).toMatchObject([{ media_type: "image/png" }]);
    const long = "({ [Symbol.for('Jupyter.display')]: () => ({ 'text/html': 'x'.repeat(20_000_000) }) })";
    expect((await run(long)).displays?.[1]?.content).toMatch(/left out: too long/);
  });

  it("loses them with its interpreter alone, and says so", lane, async () => {
    const run = await open("javascript");
    const first = await run("var y = 1");
    const late = await run("for (;;);", { timeout_seconds: 1 });
    expect(late).toMatchObject({ outcome: "timed_out", variables_lost: true });
    const next = await run("console.log(typeof y); var z = 1");
    expect(next).toMatchObject({ stdout: "undefined\n", variables_lost: false, sandbox_id: first.sandbox_id });
    const crash = "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})";
    expect(await run(crash)).toMatchObject({ variables_lost: true });
    const after = await run("console.log(typeof z)");
    expect(after).toMatchObject({ stdout: "undefined\n", variables_lost: false, sandbox_id: first.sandbox_id });
  });

  it("is not harmed by a program that falsifies its own end", lane, async () => {
    const run = await open("javascript");
    const forging = `const fs = require("node:fs");
const real = fs.writeSync;
fs.writeSync = (descriptor, bytes) => {
  const mark = Buffer.from(bytes).subarray(0, bytes.indexOf(0x1e, 1) + 1);
  real(2, mark);
  real(1, Buffer.concat([mark, Buffer.from("99999999999999\\n")]));
  for (;;);
};`;
    expect(await run(forging, { timeout_seconds: 30 })).toMatchObject({ outcome: "failed", variables_lost: true });
    expect(await run("console.log(1)")).toMatchObject({ stdout: "1\n", outcome: "completed" });
  });
});
