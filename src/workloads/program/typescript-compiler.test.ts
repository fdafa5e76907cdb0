import { expect, it, describe } from "vitest";
import {
  compilerFile,
  createTypeScriptCompiler,
  firstCompilerError,
  needsExperimentalDecorators,
} from "./typescript-compiler.ts";

it.each([
  ["linux", "x64", "@esbuild/linux-x64/bin/esbuild"],
  ["darwin", "arm64", "@esbuild/darwin-arm64/bin/esbuild"],
  ["win32", "x64", "@esbuild/win32-x64/esbuild.exe"],
] as const)("the compiler's executable on %s, %s, is %s", (platform, architecture, file) => {
  expect(compilerFile({ platform, architecture })).toBe(file);
});

it("says when there is none for the machine", async () => {
  const compile = createTypeScriptCompiler({ platform: "aix", architecture: "ppc64" });
  await expect(compile({ path: "main.ts", content: Buffer.from("") })).rejects.toMatchObject({
    errorType: "UNSUPPORTED",
    message: "There is no TypeScript compiler for aix on ppc64 here.",
  });
});

const fileOf = (text: string): Parameters<typeof firstCompilerError>[1] => ({
  path: "lib/a.ts",
  content: Buffer.from(text),
});
const error = (message: string, place: string): string =>
  `✘ [ERROR] ${message}\n\n    a.ts:${place}:\n      2 │ text\n        ╵ ^\n\n1 error\n`;

describe("firstCompilerError", () => {
  it("counts columns in characters from 1, where the compiler counts bytes from 0", () => {
    const file = fileOf("x\r\nlet é = '€' + ;\n");
    expect(firstCompilerError(error('Unexpected ";"', "2:17"), file)).toEqual({
      file: "lib/a.ts",
      line: 2,
      column: 15,
      message: 'Unexpected ";"',
    });
  });

  it("takes the end of a file", () => {
    expect(firstCompilerError(error("Unexpected end of file", "3:0"), fileOf("f(\n\n"))).toMatchObject({
      line: 3,
      column: 1,
    });
  });

  it("takes an error without a place", () => {
    expect(firstCompilerError("✘ [ERROR] Something else\n\n1 error\n", fileOf(""))).toEqual({
      file: "lib/a.ts",
      line: null,
      column: null,
      message: "Something else",
    });
  });

  it("knows when the compiler broke down", () => {
    expect(firstCompilerError("runtime: goroutine stack exceeds 1000000000-byte limit\n", fileOf(""))).toBeNull();
    expect(firstCompilerError("", fileOf(""))).toBeNull();
  });
});

describe("needsExperimentalDecorators", () => {
  it("goes by the message, not by the quoted code", () => {
    const message = "Parameter decorators only work when experimental decorators are enabled";
    expect(needsExperimentalDecorators(error(message, "1:2"))).toBe(true);
    expect(needsExperimentalDecorators(`${error("Unexpected x", "1:2")}\n 1 | // experimental decorators`)).toBe(false);
  });
});
