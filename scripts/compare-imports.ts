/**
 * Compares the map from Python's modules to distributions with the wheels of the distributions, as pip finds them on this
 * machine's index: `node scripts/compare-imports.ts [DISTRIBUTION...]`. Without names it looks up every distribution of the
 * map, some hundreds, which takes minutes. Distributions that the map does not have may be named as well. Exit code 1: the map gives
 * a distribution a module that its wheel lacks.
 */
import { compare, mappedModules } from "./imports/compare-map.ts";
import { readWheel } from "./imports/read-wheel.ts";

const atOnce = 4;
/** Modules shown for a distribution that has modules beside those of the map. */
const maxShown = 8;

const mapped = mappedModules();
const named = process.argv.slice(2);
const queue = named.length > 0 ? named : [...mapped.keys()];
const counts = { compared: 0, unknown: 0, wrong: 0 };

async function work(): Promise<void> {
  for (let distribution = queue.shift(); distribution !== undefined; distribution = queue.shift()) {
    const listing = await readWheel(distribution);
    if ("unknown" in listing) {
      counts.unknown += 1;
      console.log(`${distribution}: unknown, ${listing.unknown}`);
      continue;
    }
    counts.compared += 1;
    const { lacks, unmapped } = compare(distribution, mapped.get(distribution) ?? [], listing.files);
    if (lacks.length > 0) {
      counts.wrong += 1;
      console.log(`${distribution}: lacks ${lacks.join(", ")}`);
    }
    const more = unmapped.length > maxShown ? `, and ${unmapped.length - maxShown} more` : "";
    if (unmapped.length > 0)
      console.log(`${distribution}: also brings ${unmapped.slice(0, maxShown).join(", ")}${more}`);
  }
}

await Promise.all(Array.from({ length: atOnce }, work));
console.log(
  `${counts.compared} compared, ${counts.wrong} with a module that is not in the wheel, ${counts.unknown} unknown.`,
);
process.exitCode = counts.wrong > 0 ? 1 : 0;
