import { dialectsOf } from "../../packages/dialects.ts";
import { npmPackage } from "../../packages/npm-package.ts";
import { runtimeOf, type RuntimeName } from "../../languages/language-table.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { CheckedContextFile } from "../../policy/request/context-files.ts";
import type { RunnerFile } from "./runner-job.ts";
import type { SourcePlace } from "../../languages/language.ts";
import type { CompileTypeScript } from "./typescript-compiler.ts";

/** A specifier where code imports or requires; what stands between the words is bounded, so that reading stays linear. */
const importing = /(\b(?:from|import|require)\s{0,20}(?:\(\s{0,20})?)(["'`])(npm:[^"'`\s]{1,300})\2/g;

/**
 * The code with each import of `npm:name@version/sub` as one of `name/sub`, which interpreters understand; of the same
 * length in bytes, so that every position in it stays. Other code is returned unchanged.
 */
export function withPlainSpecifiers(path: string, content: Uint8Array): Uint8Array {
  if (dialectsOf(path).length === 0) return content;
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (!bytes.includes("npm:")) return content;
  const text = bytes
    .toString("latin1")
    .replace(importing, (whole, before: string, quote: string, specifier: string) => {
      const plain = plainSpecifier(specifier);
      return plain === null ? whole : `${before}${quote}${plain}${quote}`.padEnd(whole.length);
    });
  return Buffer.from(text, "latin1");
}

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

function plainSpecifier(specifier: string): string | null {
  if (npmPackage(specifier) === null) return null;
  return specifier.replace(/^npm:\/?((?:@[^/@]+\/)?[^/@]+)(?:@[^/]*)?/, "$1");
}
