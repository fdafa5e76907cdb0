import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { SourcePlace } from "../../languages/language.ts";

/** The error of a program that is not valid in its language (SPEC EX4). */
export function syntaxFailure({ file, line, column, message }: SourcePlace): GloveboxError {
  const place = describePlace({ file, line, column });
  return new GloveboxError("SYNTAX_ERROR", `${place}: ${message}`, {
    suggestion: line === null ? `Fix ${file} and run it again.` : `Fix line ${line} of ${file} and run it again.`,
    context: { file, line, column },
  });
}

/** `main.py:3:5`, as far as it is known. */
function describePlace({ file, line, column }: Omit<SourcePlace, "message">): string {
  return [file, line, column].filter((part) => part !== null).join(":");
}
