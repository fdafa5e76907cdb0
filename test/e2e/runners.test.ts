import { type RuntimeName, runtimeOf } from "../../src/languages/language-table.ts";
import { describe, expect, it, type TestContext } from "vitest";
import { createTypeScriptCompiler } from "../../src/workloads/program/typescript-compiler.ts";
import { bunInterpreter, nodeInterpreter, pythonInterpreters, type Interpreter } from "./runners/interpreters.ts";
import { javascriptPrograms } from "./runners/javascript-programs.ts";
import type { Program } from "./runners/program.ts";
import { pythonPrograms } from "./runners/python-programs.ts";
import { inFolder, runByRunner, runNatively, type Setting } from "./runners/run-program.ts";
import { typescriptPrograms } from "./runners/typescript-programs.ts";
import { rareTag } from "../lanes/lanes.ts";

function settingOf(
  context: TestContext,
  toolchain: RuntimeName,
  { name, path }: Interpreter,
  mainFile: string,
): Setting {
  return path === null ? context.skip(`no ${name} on this machine`) : { toolchain, mainFile, interpreter: path };
}

/** The runner must leave no trace: output, errors and exit code are those of the bare interpreter, byte for byte. */
async function expectSameAsNative(setting: Setting, program: Program): Promise<void> {
  await inFolder(async (folder) => {
    const native = await runNatively(folder, setting, program);
    expect(await runByRunner(folder, setting, program)).toEqual(native);
  });
}

describe.each(pythonInterpreters())("$name by its runner, as by itself,", (interpreter) => {
  for (const [name, program] of Object.entries(pythonPrograms)) {
    it(name, (context) => expectSameAsNative(settingOf(context, "python", interpreter, "main.py"), program));
  }
});

describe.each([
  ["node", nodeInterpreter()],
  ["bun", bunInterpreter()],
] as const)("%s by its runner, as by itself,", (toolchain, interpreter) => {
  for (const [name, program] of Object.entries(javascriptPrograms)) {
    it(name, (context) => expectSameAsNative(settingOf(context, toolchain, interpreter, "main.js"), program));
  }
});

describe("bun by its runner, as by itself, in TypeScript,", { tags: [rareTag] }, () => {
  for (const [name, program] of Object.entries(typescriptPrograms)) {
    it(name, (context) => expectSameAsNative(settingOf(context, "bun", bunInterpreter(), "main.ts"), program));
  }
});

describe.each([
  ["node", nodeInterpreter()],
  ["bun", bunInterpreter()],
] as const)("a TypeScript program, by %s,", { tags: [rareTag] }, (toolchain, interpreter) => {
  const compile = createTypeScriptCompiler({ platform: process.platform, architecture: process.arch });
  for (const [name, program] of Object.entries(typescriptPrograms)) {
    it(name, async (context) => {
      const reason = program.except?.[toolchain];
      if (reason !== undefined) context.skip(reason);
      const setting = settingOf(context, toolchain, interpreter, "main.ts");
      const compiled: Record<string, string> = {};
      for (const [path, text] of Object.entries({ "main.ts": program.code, ...program.files })) {
        if (!runtimeOf(toolchain).needsCompiling(path)) continue;
        const compilation = await compile({ path, content: Buffer.from(text) });
        if ("syntaxError" in compilation) throw new Error(`${path}: ${compilation.syntaxError.message}`);
        compiled[path] = Buffer.from(compilation.code).toString();
      }
      const run = await inFolder((folder) => runByRunner(folder, setting, program, compiled));
      expect(run).toMatchObject({ stdout: program.stdout, exitCode: program.exitCode ?? 0 });
      expect(run.stderr).toMatch(program.stderr ?? /^$/);
    });
  }
});
