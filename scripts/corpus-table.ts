/** Prints, for each engine named on the command line, how many corpus programs gave their known verdict. */
import { createGlovebox } from "../test/helpers/wire-glovebox.ts";
import { corpusPresent, languages, readSnippets, runSnippets } from "../test/helpers/corpus.ts";

const engines = process.argv.slice(2);
if (engines.length === 0 || !corpusPresent) {
  process.stderr.write(
    corpusPresent
      ? "Name the engines: node scripts/corpus-table.ts docker local\n"
      : "The corpus is not beside this checkout (../shared/corpus).\n",
  );
  process.exit(2);
}

await using glovebox = await createGlovebox();
const differences: string[] = [];
process.stdout.write("engine     language    programs  as known  different\n");
for (const engine of engines) {
  for (const language of languages) {
    const verdicts = await runSnippets((request) => glovebox.execute({ ...request, engine }), readSnippets(language));
    const different = verdicts.filter((verdict) => verdict.difference !== null);
    const numbers = [verdicts.length, verdicts.length - different.length, different.length];
    process.stdout.write(
      `${engine.padEnd(10)} ${language.padEnd(10)} ${numbers.map((value) => String(value).padStart(9)).join(" ")}\n`,
    );
    differences.push(...different.map(({ snippet, difference }) => `${engine} ${snippet.id}: ${difference}`));
  }
}
if (differences.length > 0) {
  process.stdout.write(`\n${differences.join("\n")}\n`);
  process.exitCode = 1;
}
