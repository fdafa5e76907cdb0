import type { Capabilities } from "../../engines/capabilities.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { JavaScriptRuntime, Language } from "../../policy/language.ts";
import type { Toolchain } from "./languages.ts";

export interface WantedToolchain {
  readonly language: Language;
  /** What was requested; undefined: the usual one. */
  readonly runtime: JavaScriptRuntime | undefined;
  /** What this operation runs JavaScript and TypeScript with (SPEC IM3). */
  readonly usual: JavaScriptRuntime;
}

/** What runs a program. @throws UNSUPPORTED for a runtime that the engine does not have */
export function chooseToolchain(
  { language, runtime, usual }: WantedToolchain,
  { javascript }: Pick<Capabilities, "javascript">,
  engine: string,
): Toolchain {
  if (language === "python") return "python";
  if (runtime !== undefined && javascript !== undefined && runtime !== javascript) {
    throw new GloveboxError(
      "UNSUPPORTED",
      `Engine ${engine} runs JavaScript and TypeScript with ${javascript} alone.`,
      {
        suggestion: "Leave runtime out, or choose an engine with images.",
        context: { field: "runtime", engine, missing: runtime },
      },
    );
  }
  return runtime ?? javascript ?? usual;
}
