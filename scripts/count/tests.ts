import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";

/** The number of tests of each kind, by a display name. */
export type Counts = Readonly<Record<string, number>>;

interface ListedTest {
  readonly file: string;
}

/** Every test of a checkout, by what it belongs to; no test is run. */
export function countTests(root: string): Counts {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-count-"));
  try {
    const file = join(folder, "tests.json");
    const vitest = join(root, "node_modules", ".bin", "vitest");
    execFileSync(vitest, ["list", "--no-static-parse", `--json=${file}`], { cwd: root, stdio: ["ignore", 2, 2] });
    const tests = JSON.parse(readFileSync(file, "utf8")) as readonly ListedTest[];
    const kinds = Map.groupBy(tests, (test) => kindOf(relative(root, test.file)));
    return Object.fromEntries(
      [...kinds].map(([kind, all]) => [kind, all.length] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function kindOf(path: string): string {
  const contract = /^test\/engine-contract\/contract\.(.*)\.test\.ts$/.exec(path)?.[1];
  if (contract !== undefined) return `contract tests on ${contract}`;
  const [, folder = ""] = /^test\/([^/]+)\//.exec(path) ?? [];
  if (folder !== "") return `${folder} tests`;
  return path.startsWith("test/") ? "repository tests" : "unit tests";
}

/** What the tables of a checkout contain. */
export async function countTables(root: string): Promise<Counts> {
  const read = async (path: string, name: string): Promise<number> => {
    if (!existsSync(join(root, path))) return 0;
    const loaded = (await import(pathToFileURL(join(root, path)).href)) as Record<string, unknown>;
    const table = loaded[name];
    if (typeof table === "function") return ((table as () => unknown)() as ReadonlyMap<unknown, unknown>).size;
    return (table as readonly unknown[]).length;
  };
  return {
    "contract behaviours": await read("test/engine-contract/collect-behaviours.ts", "collectBehaviours"),
    attacks: await read("test/security/attacks/attack-table.ts", "attacks"),
    sabotages: await read("test/sabotage/sabotages.ts", "sabotages"),
  };
}
