import { runInThisContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { createTypeScriptCompiler } from "../../src/workloads/program/typescript-compiler.ts";
import { createNotebookCode } from "../../src/workloads/session/variables/make-notebook-code.ts";

const host = { executable: process.execPath, platform: process.platform, architecture: process.arch };
const make = createNotebookCode({ ...host, compile: createTypeScriptCompiler(host) });

async function valueOf(code: string, language: "javascript" | "typescript" = "typescript"): Promise<unknown> {
  const made = await make({ path: "main.ts", language, code }, {});
  if ("syntaxError" in made) throw new Error(JSON.stringify(made.syntaxError));
  const [file] = made.files;
  const declare = (names: readonly string[]): void => {
    for (const name of names) Object.defineProperty(globalThis, name, { writable: true, configurable: true });
  };
  Object.assign(globalThis, { __glovebox: { declare, named: (value: unknown) => value } });
  return runInThisContext(Buffer.from(file?.content ?? []).toString("utf8"));
}

describe("createNotebookCode", () => {
  it.each([
    ["types", "const a: number = 1 as any;\ntype B = string;\na satisfies unknown", 1],
    ["an enum", "enum Kind { A = 7 }\nKind.A", 7],
    [
      "a decorator",
      "const seen: string[] = [];\nfunction d(..._: unknown[]) { seen.push('d') }\n@d class C {}\nseen.join()",
      "d",
    ],
  ])("understands %s", async (_, code, value) => expect(await valueOf(code)).toBe(value));

  it("says where code is not valid, and refuses what breaks its parser", async () => {
    const place = { file: "main.ts", line: 2 };
    for (const language of ["javascript", "typescript"] as const) {
      const mistaken = await make({ path: "main.ts", language, code: "1;\nlet x = ;" }, {});
      expect(mistaken).toMatchObject({ syntaxError: place });
    }
    const deep = { path: "main.js", language: "javascript", code: "[".repeat(1_000_000) } as const;
    await expect(make(deep, {})).rejects.toMatchObject({ errorType: "INVALID_REQUEST", context: { field: "code" } });
    const signal = AbortSignal.abort();
    await expect(make({ ...deep, code: "1" }, { signal })).rejects.toMatchObject({ errorType: "CANCELLED" });
  });
});
