import type { CallOptions } from "../../engines/engine.ts";
import { checkPackages, ecosystemOf } from "../../policy/package-specs.ts";
import type { FindImports } from "../program/find-imports.ts";
import type { ExecuteSpec } from "./execute-spec.ts";

/** The packages that a program is to have: those that it names, or with `auto` those that it imports. */
export async function wantedPackages(
  { packages, language, mainFile, code, contextFiles }: ExecuteSpec,
  findImports: FindImports,
  { signal }: CallOptions,
): Promise<readonly string[]> {
  if (packages !== "auto") return packages;
  const others = contextFiles.map(({ path, content }) => ({ path, content: Buffer.from(content).toString("utf8") }));
  const files = [{ path: mainFile, content: code }, ...others];
  return checkPackages(await findImports({ language, files }, { signal }), ecosystemOf(language));
}
