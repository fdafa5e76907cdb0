import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { keepPublicTypes } from "../scripts/bundle/public-types.ts";
import { runTool } from "./gates/planted-project.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-types-"));
afterAll(() => rmSync(folder, { recursive: true }));
const entries = ["index.d.ts", "client.d.ts"];

/** What the compiler says about them in a project that has neither the types of Node nor of browsers. */
function compileAlone(): string {
  const compilerOptions = { strict: true, skipLibCheck: false, types: [], lib: ["es2022"], module: "nodenext" };
  const config = { compilerOptions: { ...compilerOptions, noEmit: true }, files: entries };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  return runTool(folder, "tsc", ["-p", ".", "--pretty", "false"]).stdout;
}

describe("the public types", () => {
  it("compile in a project that has no types of Node, of browsers or of packages", () => {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    expect(runTool(process.cwd(), "tsc", ["-p", "tsconfig.build.json", "--outDir", folder]).stdout).toBe("");
    keepPublicTypes(folder, entries);
    expect(compileAlone()).toBe("");
  });

  it("would not, if one of them were Node's", () => {
    const path = join(folder, "base/logger.d.ts");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, `${text}export type Host = NodeJS.Platform;\n`);
    expect(compileAlone()).toMatch(/^base\/logger\.d\.ts.*'NodeJS'/);
    writeFileSync(path, text);
  });
});
