import { parseSync, Visitor } from "oxc-parser";

/** The systems that code distinguishes, and how tests name them: directly, or by their kind of paths. */
const testedAs = { linux: /"linux"|\bposix\b/, darwin: /"darwin"/, win32: /"windows"|"win32"|\bwin32\b/ } as const;
type System = keyof typeof testedAs;
const isSystem = (name: unknown): name is System => typeof name === "string" && Object.hasOwn(testedAs, name);

/** Parts of `node:path` and `node:os` that differ on Windows although they do not name a system. */
const silent = new Set(["sep", "delimiter", "EOL"]);

/** The systems that a file distinguishes, in order; empty if it does not. */
export function systemsOf(path: string, text: string): readonly System[] {
  const systems = new Set<System>();
  const addBoth = (): void => void systems.add("linux").add("win32");
  new Visitor({
    Literal({ value }) {
      if (isSystem(value)) systems.add(value);
    },
    Property({ key }) {
      if (key.type === "Identifier" && isSystem(key.name)) systems.add(key.name);
    },
    MemberExpression({ property, object }) {
      const isOfNode = object.type === "Identifier" && /^(?:path|os|flavour|nodePath)$/.test(object.name);
      if (isOfNode && property.type === "Identifier" && silent.has(property.name)) addBoth();
    },
    ImportDeclaration({ source, specifiers }) {
      if (!/^node:(?:path|os)$/.test(source.value)) return;
      const names = specifiers.map((each) => (each.type === "ImportSpecifier" ? each.imported : null));
      if (names.some((name) => name?.type === "Identifier" && silent.has(name.name))) addBoth();
    },
  }).visit(parseSync(path, text).program);
  return [...systems].toSorted();
}

/**
 * What is missing for each file that behaves differently on some systems: unit tests in its folder that import it, which
 * together name every system that the file names, and at least two. `texts`: sources and tests, by path.
 */
export function untestedBranches(texts: ReadonlyMap<string, string>): readonly string[] {
  const tests = [...texts].filter(([path]) => /\.test\.tsx?$/.test(path));
  return [...texts].flatMap(([path, text]) => {
    if (/\.test\.tsx?$/.test(path)) return [];
    const told = systemsOf(path, text);
    if (told.length === 0) return [];
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    const from = `"./${path.slice(folder.length)}"`;
    const near = tests.filter(([test]) => test.lastIndexOf("/") === folder.length - 1 && test.startsWith(folder));
    const its = near.filter(([, test]) => test.includes(from));
    if (its.length === 0) return [`${path} tells ${told.join(", ")} apart and has no test beside it that imports it`];
    const tried = its.map(([, test]) => test).join("\n");
    const tested = (Object.keys(testedAs) as System[]).filter((system) => testedAs[system].test(tried));
    const missing = told.filter((system) => !tested.includes(system));
    if (missing.length > 0) return [`the tests of ${path} do not try it as on ${missing.join(", ")}`];
    return tested.length >= 2 ? [] : [`the tests of ${path} try it as on ${tested.join()} only`];
  });
}
