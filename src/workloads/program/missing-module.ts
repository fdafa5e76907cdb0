import { GloveboxError } from "../../errors/glovebox-error.ts";
import { npmPackage } from "../../packages/npm-package.ts";
import { pythonPackage } from "../../packages/python-package.ts";
import type { Toolchain } from "./languages.ts";

/** How an interpreter reports what it could not import. */
const words: Readonly<Record<Toolchain, RegExp>> = {
  python: /^ModuleNotFoundError: No module named '([^'\n]+)'$/gm,
  node: /^(?:Uncaught )?Error(?: \[ERR_MODULE_NOT_FOUND\])?: Cannot find (?:package|module) '([^'\n]+)'/gm,
  bun: /^error: Cannot find (?:package|module) ['"]([^'"\n]+)['"]/gm,
};
/** Node reports an uncaught error with the stack of what required the module. */
const maxLines = 40;

/** The error of a program that ended because a package is missing, or null; `stderr` is the program's own output. */
export function missingModule(toolchain: Toolchain, stderr: string): GloveboxError | null {
  const tail = stderr.trimEnd().split(/\r?\n/).slice(-maxLines).join("\n");
  const module = [...tail.matchAll(words[toolchain])].at(-1)?.[1];
  if (module === undefined) return null;
  const isPython = toolchain === "python";
  const name = isPython ? pythonPackage(module) : npmPackage(module);
  if (name === null) return null;
  return new GloveboxError("NOT_FOUND", `The program imports ${module}, which is not installed: package ${name}.`, {
    suggestion: `Ask for packages: ["${name}"], or for packages: "auto", which installs what the code imports by a name that stands there; a file of your own must be sent along.`,
    context: { module, package: name, field: "packages" },
  });
}
