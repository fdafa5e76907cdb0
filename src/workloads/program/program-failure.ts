import { ecosystemOfRuntime, runtimeOf, type Ecosystem, type RuntimeName } from "../../languages/language-table.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { npmPackage } from "../../packages/npm-package.ts";
import { pythonPackage } from "../../packages/python-package.ts";
import type { SourcePlace } from "../../languages/language.ts";

const packageOfModule: Readonly<Record<Ecosystem, (module: string) => string | null>> = {
  python: pythonPackage,
  npm: npmPackage,
};
/** Node reports an uncaught error with the stack of what required the module. */
const maxLines = 40;

/** The error of a program that ended because a package is missing, or null; `stderr` is the program's own output. */
export function missingModule(toolchain: RuntimeName, stderr: string): GloveboxError | null {
  const tail = stderr.trimEnd().split(/\r?\n/).slice(-maxLines).join("\n");
  const { missingModule: words } = runtimeOf(toolchain);
  const ecosystem = ecosystemOfRuntime(toolchain);
  if (words === null || ecosystem === null) return null;
  const module = [...tail.matchAll(words)].at(-1)?.[1];
  if (module === undefined) return null;
  const name = packageOfModule[ecosystem](module);
  if (name === null) return null;
  return new GloveboxError("NOT_FOUND", `The program imports ${module}, which is not installed: package ${name}.`, {
    suggestion: `Ask for packages: ["${name}"], or for packages: "auto", which installs what the code imports by a name that stands there; a file of your own must be sent along.`,
    context: { module, package: name, field: "packages" },
  });
}

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
