import { type RuntimeName, runtimeOf } from "../../languages/language-table.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { CheckedContextFile } from "../../policy/request/context-files.ts";
import type { RunnerFile } from "./runner-job.ts";
import type { SourcePlace } from "../../languages/language.ts";
import { withPlainSpecifiers } from "./npm-specifiers.ts";
import type { CompileTypeScript } from "./typescript-compiler.ts";

/** The files as the runner takes them, or the first place that is not valid. */
export type CompiledFiles = { readonly files: readonly RunnerFile[] } | { readonly syntaxError: SourcePlace };

/** Adds to each file what the toolchain runs in its place, where it cannot run the file itself. */
export async function compileFiles(
  files: readonly CheckedContextFile[],
  toolchain: RuntimeName,
  { compile, signal }: CallOptions & { readonly compile: CompileTypeScript },
): Promise<CompiledFiles> {
  const ready: RunnerFile[] = [];
  // One after another: each is a process of its own, and nearly always there is only one.
  for (const { path, content: written } of files) {
    const content = withPlainSpecifiers(path, written);
    if (!runtimeOf(toolchain).needsCompiling(path)) {
      ready.push({ path, content });
      continue;
    }
    const compilation = await compile({ path, content }, { signal });
    if ("syntaxError" in compilation) return { syntaxError: compilation.syntaxError };
    ready.push({ path, content: written, compiled: compilation.code });
  }
  return { files: ready };
}
