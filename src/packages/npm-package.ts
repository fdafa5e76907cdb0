import { builtinModules } from "node:module";

/** Node's own, `fs/promises` among them; and what Bun brings. */
const builtins: ReadonlySet<string> = new Set([...builtinModules, "bun"]);

/** The registry's rule for names, and older ones with capital letters. */
const packageName = /^(?:@[a-z0-9][a-z0-9._~-]*\/)?[a-z0-9][a-z0-9._~-]*$/i;
const maxNameLength = 214;
/** A version, a range without spaces or a tag. */
const versionText = /^[\w.^~<>=*-]{1,64}$/;
const forbiddenNames: ReadonlySet<string> = new Set(["node_modules", "favicon.ico"]);

/**
 * The package to install for a module specifier: `@scope/name/sub` gives `@scope/name`, `npm:name@1/sub` gives `name@1`.
 * Null for paths, URLs, modules that the interpreter has, and whatever cannot be the name of a package.
 */
export function npmPackage(specifier: string): string | null {
  const inline = /^npm:\/?(.*)$/s.exec(specifier)?.[1];
  if (inline === undefined && (builtins.has(specifier) || specifier.includes(":"))) return null;
  const [, name = "", version] = /^(@[^/@]*\/[^/@]*|[^/@]*)(?:@([^/]*))?(?:\/.*)?$/s.exec(inline ?? specifier) ?? [];
  if (name.length > maxNameLength || !packageName.test(name) || forbiddenNames.has(name)) return null;
  if (name === "bun") return null;
  if (version === undefined) return name;
  // Only an inline import says a version; elsewhere it is no specifier at all.
  return inline !== undefined && versionText.test(version) ? `${name}@${version}` : null;
}

/** Whether the text is what {@link npmPackage} may give. */
export function isNpmPackage(spec: string): boolean {
  return npmPackage(`npm:${spec}`) === spec;
}
