import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keepPublicTypes } from "../scripts/bundle/public-types.ts";
import { runTool, type ToolRun } from "./gates/planted-project.ts";
import { projectFolder } from "./helpers/project-folder.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-types-"));
afterAll(() => rmSync(folder, { recursive: true }));
const entries = ["index.d.ts", "client.d.ts"];

/** What the compiler says about them in a project that has neither the types of Node nor of browsers. */
function compileAlone(): ToolRun {
  const compilerOptions = { strict: true, skipLibCheck: false, types: [], lib: ["es2022"], module: "nodenext" };
  const config = { compilerOptions: { ...compilerOptions, noEmit: true }, files: entries };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  return runTool(folder, "tsc", ["-p", ".", "--pretty", "false"]);
}

describe("the public types", () => {
  beforeAll(() => {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    const { exitCode, stdout } = runTool(projectFolder, "tsc", ["-p", "tsconfig.build.json", "--outDir", folder]);
    if (exitCode !== 0) throw new Error(stdout);
    keepPublicTypes(folder, entries);
  });

  it("compile in a project that has no types of Node, of browsers or of packages", () => {
    expect(compileAlone()).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  it("would not, if one of them were Node's", () => {
    const path = join(folder, "base/logger.d.ts");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, `${text}export type Host = NodeJS.Platform;\n`);
    expect(compileAlone().stdout).toMatch(/^base\/logger\.d\.ts.*'NodeJS'/);
    writeFileSync(path, text);
  });
});
