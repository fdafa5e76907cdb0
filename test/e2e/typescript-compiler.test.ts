import { describe, expect, it } from "vitest";
import { createTypeScriptCompiler } from "../../src/workloads/program/typescript-compiler.ts";

const compile = createTypeScriptCompiler({ platform: process.platform, architecture: process.arch });
const compileText = (text: string, path = "main.ts"): ReturnType<typeof compile> =>
  compile({ path, content: Buffer.from(text) });
const codeOf = async (text: string, path?: string): Promise<string> => {
  const compilation = await compileText(text, path);
  if ("syntaxError" in compilation) throw new Error(compilation.syntaxError.message);
  return Buffer.from(compilation.code).toString();
};

describe("the TypeScript compiler", () => {
  it("keeps the module format", async () => {
    expect(await codeOf('import fs from "node:fs";\nexport const a: number = fs.F;')).toMatch(
      /^import fs[^]*export \{|^import fs[^]*export const a/,
    );
    expect(await codeOf('const fs = require("node:fs");\nexports.a = fs as any;')).toContain("exports.a = fs");
    expect(await codeOf("export const a: number = 1;", "a.cts")).toContain("module.exports");
  });

  it("names the file in the source map and leaves its text out", async () => {
    const code = await codeOf("enum E { A }", "lib/é x.ts");
    const map = JSON.parse(Buffer.from(code.split("base64,")[1] ?? "", "base64").toString()) as Record<string, unknown>;
    expect(map["sources"]).toEqual(["é x.ts"]);
    expect(map).not.toHaveProperty("sourcesContent");
  });

  it.each([
    ["let x = 1;\nconst a: string = ;\n", { file: "main.ts", line: 2, column: 19, message: 'Unexpected ";"' }],
    ["const é = '€' + ;", { file: "main.ts", line: 1, column: 17, message: 'Unexpected ";"' }],
    ["f(\n", { file: "main.ts", line: 2, column: 1, message: "Unexpected end of file" }],
    [
      "let x = 1;\nlet x = 2;",
      { file: "main.ts", line: 2, column: 5, message: 'The symbol "x" has already been declared' },
    ],
  ])("names the place of %j", async (text, syntaxError) => {
    expect(await compileText(text)).toEqual({ syntaxError });
  });

  it("takes both kinds of decorators", async () => {
    expect(await codeOf("declare const d: any;\nclass A { f(@d x: number) {} }")).toContain("__decorateParam(0, d)");
    expect(await codeOf("declare const d: any;\nclass A { @d f() {} }")).toContain("__decorateElement");
  });

  it("survives what breaks it", async () => {
    const deep = `x = ${"(".repeat(1_000_000)}`;
    await expect(compileText(deep)).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
      context: { file: "main.ts" },
    });
  });

  it("gives up on what takes it for ever", async () => {
    const nested = `${"{\n".repeat(5_000)}${"}".repeat(5_000)}`;
    await expect(compileText(nested)).rejects.toMatchObject({
      errorType: expect.stringMatching(/^(TIMEOUT|INVALID_REQUEST)$/),
    });
  });

  it("takes a large file", async () => {
    expect((await codeOf("{ const f = (x: number): number => x + 1; }\n".repeat(20_000))).length).toBeGreaterThan(
      100_000,
    );
  });

  it("stops when its caller does", async () => {
    const controller = new AbortController();
    const content = Buffer.from("enum E { A }\n".repeat(80_000));
    const compilation = compile({ path: "main.ts", content }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await expect(compilation).rejects.toMatchObject({ errorType: "CANCELLED" });
    await expect(compile({ path: "main.ts", content }, { signal: controller.signal })).rejects.toMatchObject({
      errorType: "CANCELLED",
    });
  });

  it("says when there is none for the platform", async () => {
    const other = createTypeScriptCompiler({ platform: "haiku", architecture: "mips" });
    await expect(other({ path: "main.ts", content: Buffer.from("") })).rejects.toMatchObject({
      errorType: "UNSUPPORTED",
    });
  });
});
