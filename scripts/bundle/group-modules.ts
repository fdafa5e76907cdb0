import type { ChunkingContext, CodeSplittingNameFunction } from "rolldown";

export interface GroupOptions {
  /** Modules that the hottest command loads one after the other, each with all that it imports. */
  readonly stages: readonly string[];
  /** Of the stages, those that are left out at times: what later ones share with them is a group of its own. */
  readonly optional: readonly string[];
  /** Sets of modules that are started or imported from outside, and must not load more than they need. */
  readonly apart: readonly (readonly string[])[];
}

/**
 * Names the group of a module, which becomes one file: modules that are always loaded together. By itself, a bundler makes a
 * file for each set of entries that share code, and Node needs as long to find a small file as a large one. Everything that
 * a module of a group imports is in its own group or in one that is loaded before it, so that groups form no circle.
 */
export function groupModules(options: GroupOptions): CodeSplittingNameFunction {
  // Which modules there are is known only when the first is asked for.
  let groupOf: ((module: string) => string | null) | undefined;
  return (module, graph) => {
    groupOf ??= groupsIn(graph, options);
    return groupOf(module);
  };
}

/** @throws Error for a stage that is not in the bundle */
function groupsIn(
  graph: ChunkingContext,
  { stages, optional, apart }: GroupOptions,
): (module: string) => string | null {
  const importsOf = (module: string): readonly string[] => graph.getModuleInfo(module)?.importedIds ?? [];
  const reach = (modules: readonly string[]): ReadonlySet<string> => {
    const reached = new Set(modules);
    // A set is walked with what is added meanwhile.
    for (const module of reached) for (const imported of importsOf(module)) reached.add(imported);
    return reached;
  };
  const missing = stages.find((stage) => graph.getModuleInfo(stage) === null);
  if (missing !== undefined) throw new Error(`${missing} is not in the bundle.`);
  const staged = stages.map((stage) => reach([stage]));
  const sets = apart.map((modules) => reach(modules));
  const indexesIn = (all: readonly ReadonlySet<string>[], module: string): readonly number[] =>
    all.flatMap((reached, index) => (reached.has(module) ? index : []));
  return (module) => {
    const used = indexesIn(staged, module);
    const [first] = used;
    if (first === undefined) return null;
    const shared = optional.includes(stages[first] ?? "") ? used : [first];
    return ["group", ...shared, ...indexesIn(sets, module).map((index) => `set${index}`)].join("-");
  };
}
