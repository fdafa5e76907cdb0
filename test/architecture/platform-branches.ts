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
 * What is missing for each file that behaves differently on some systems: a unit test of the same name next to it that
 * names every system that the file names, and at least two. `texts`: sources and tests, by path.
 */
export function untestedBranches(texts: ReadonlyMap<string, string>): readonly string[] {
  return [...texts].flatMap(([path, text]) => {
    if (path.endsWith(".test.ts")) return [];
    const told = systemsOf(path, text);
    if (told.length === 0) return [];
    const testPath = path.replace(/\.[a-z]+$/, ".test.ts");
    const test = texts.get(testPath);
    if (test === undefined) return [`${path} tells ${told.join(", ")} apart and has no ${testPath}`];
    const tested = (Object.keys(testedAs) as System[]).filter((system) => testedAs[system].test(test));
    const missing = told.filter((system) => !tested.includes(system));
    if (missing.length > 0) return [`${testPath} does not try ${path} as on ${missing.join(", ")}`];
    return tested.length >= 2 ? [] : [`${testPath} tries ${path} as on ${tested.join()} only`];
  });
}
