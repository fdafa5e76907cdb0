import type { Language } from "../../policy/language.ts";
import { dialectsOf } from "../javascript/dialects.ts";
import { npmPackage } from "../javascript/npm-package.ts";
import { standardLibrary } from "../python/standard-library.ts";
import type { SourceFile } from "./scan-request.ts";

/**
 * Whether a file has to be parsed: it is of the language, and a word that importing takes stands somewhere else than in a plain
 * import of what the interpreter has. Cheap, for most programs import nothing else; what it cannot tell it says yes to.
 */
export function mayNeedPackages({ path, content }: SourceFile, language: Language): boolean {
  if (language === "python") return /\.pyw?$/.test(path) && content.includes("import") && mayNeedPython(content);
  if (dialectsOf(path).length === 0) return false;
  return /\.[jt]sx$/.test(path) || mayNeedNpm(content);
}

/** Longer code costs more to look at than a process does. */
const maxCharacters = 64 * 1024;

const name = String.raw`[\w.]{1,80}(?:[ \t]{1,8}as[ \t]{1,8}\w{1,80})?`;
/** A whole line, so that nothing goes on in another one; the names may end it, but for what `from` takes. */
const pythonImport = new RegExp(
  String.raw`^[ \t]{0,80}(?:import[ \t]{1,8}(${name}(?:[ \t]{0,8},[ \t]{0,8}${name}){0,20})|from[ \t]{1,8}([\w.]{1,80})[ \t]{1,8}import[ \t(][^#]{0,400})[ \t]{0,8}(?:#.{0,400})?\r?$`,
);

function mayNeedPython(content: string): boolean {
  if (content.length > maxCharacters) return true;
  return content.split("\n").some((line) => {
    if (!line.includes("import")) return false;
    const [, names, from] = pythonImport.exec(line) ?? [];
    // A second statement on the line, or a name such as `import_module`.
    if (line.split("import").length > 2) return true;
    const modules =
      from === undefined ? names?.split(",").map((each) => each.trim().split(/[ \t.]/, 1)[0] ?? "") : [from];
    return modules === undefined || modules.some((module) => !standardLibrary.has(module.split(".", 1)[0] ?? ""));
  });
}

/** What loads a module with a plain name; the clause holds no quote, so it reaches over no other specifier. */
const npmImport =
  /\b(?:import\s{0,8}(?:[\w$*{},\s]{1,400}?\bfrom\s{0,8})?|require\s{0,2}\(\s{0,8})(["'])([\w:./@-]{1,200})\1|\.from\(/g;

function mayNeedNpm(content: string): boolean {
  if (content.length > maxCharacters) return /import|require|from/.test(content);
  const rest = content.replaceAll(npmImport, (whole: string, _quote: string, specifier: string | undefined) =>
    specifier === undefined || isBuiltIn(specifier) ? "" : whole,
  );
  return /import|require|from/.test(rest);
}

function isBuiltIn(specifier: string): boolean {
  return /^(?:node|bun):/.test(specifier) || (/^[a-z]/.test(specifier) && npmPackage(specifier) === null);
}
