import { distributions, pythonPackage, namespaces } from "../../src/packages/python-package.ts";
import { brings, importRoots, modulesOf } from "./wheel-modules.ts";

/** What of the map is wrong or lacking, by a distribution's own wheel. */
export interface Difference {
  /** Modules that the map gives to the distribution, but its wheel lacks. */
  readonly lacks: readonly string[];
  /** Modules of its wheel for which the map names another distribution. */
  readonly unmapped: readonly string[];
}

/** The modules that the map gives to each distribution, by the distribution's name. */
export function mappedModules(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [module, distribution] of distributions) {
    found.set(distribution, [...(found.get(distribution) ?? []), module]);
  }
  return found;
}

/** Names that the Python index treats as the same one are equal in this form. */
function comparable(name: string | null): string | null {
  return (
    name
      ?.replace(/<.*$/, "")
      .toLowerCase()
      .replaceAll(/[-_.]+/g, "-") ?? null
  );
}

export function compare(distribution: string, mapped: readonly string[], files: readonly string[]): Difference {
  const wheel = modulesOf(files);
  const isOfInterface = (module: string): boolean =>
    [...wheel.modules].some((other) => other.replace(/_v\d+\w*$/, "") === module);
  return {
    lacks: mapped.filter((module) => !brings(wheel, module) && !isOfInterface(module)),
    unmapped: importRoots(wheel, (module) => namespaces.has(module)).flatMap((root) => {
      const said = pythonPackage(root);
      return comparable(said) === comparable(distribution) ? [] : [`${root} (said to be ${said ?? "of none"})`];
    }),
  };
}
