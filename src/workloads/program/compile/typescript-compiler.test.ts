import { expect, it } from "vitest";
import { compilerFile, createTypeScriptCompiler } from "./typescript-compiler.ts";

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
