import { parseSync } from "oxc-parser";
import { engineTable } from "../../src/engines/engine-table.ts";

/** Engine names that are also ordinary words: only a whole string counts as the engine. */
const commonWords: ReadonlySet<string> = new Set(["local"]);

/** Other words that stand for an engine or a part of one. */
const otherWords = ["runsc", "gvisor"];

/** These also count only as whole strings: users know the level as `preload`, and `preloadCaveat` and the like are named after it. */
const wholeStrings = [...engineTable.map(({ name }) => name).filter((name) => commonWords.has(name)), "preload"];

/** Words that no other code may contain, in any form. */
const anywhere = [...engineTable.map(({ name }) => name).filter((name) => !commonWords.has(name)), ...otherWords];

/** Folders of the engines that are part of their interface. */
const forAll: ReadonlySet<string> = new Set(["choice", "enforcement", "images", "mend"]);

/** Engine words in a file's code: comments do not count, variable names and strings do. */
export function engineWords(path: string, text: string): readonly string[] {
  const { comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors.map((error) => error.message).join("; ")}`);
  let code = text;
  for (const { start, end } of comments) code = code.slice(0, start) + " ".repeat(end - start) + code.slice(end);
  // An image's recipe, and the list of what it leaves out, have these names with every engine.
  const lower = code.replaceAll(/dockerfile|\.dockerignore/gi, "").toLowerCase();
  return [
    ...anywhere.filter((word) => lower.includes(word)),
    ...wholeStrings.filter((word) => new RegExp(`["']${word}["']`).test(withoutOtherMeanings(code))),
    ...[...code.matchAll(/\/engines\/([a-z-]+)\//g)].flatMap(([, folder = ""]) => (forAll.has(folder) ? [] : folder)),
  ];
}

/** Where the same string means something else: the audience of an operation, the user of this machine, another program's settings. */
const otherMeanings = [
  /\baudience\??: ("everyone" \| )?"local"/g,
  /\bprincipal ={1,3} "local"/g,
  /\btype: "local", command\b/g,
];

function withoutOtherMeanings(code: string): string {
  return otherMeanings.reduce((rest, pattern) => rest.replaceAll(pattern, ""), code);
}

/** Files that may contain such words, and why. */
export const engineWordExceptions: Readonly<Record<string, string>> = {
  "src/library/objects/generated/options.ts": "written from the contracts: the levels of isolation",
  "src/library/objects/generated/results.ts": "written from the contracts: the levels of isolation",
  "src/library/objects/generated/settings.ts": "written from the configuration's schema: its engines and levels",
  "src/library/glovebox-options.ts": "the engines that a program can name, for its editor",
  "src/operations/contract/wire-values.ts":
    "names the levels of isolation, the weakest of which is called preload (SPEC RT5)",
  "src/policy/network/domain-names.ts":
    "names labels that are no part of public names, one of which is local (RFC 6762)",
  "src/policy/image-reference.ts": "the default registry, which has this name with every engine",
  "src/config/config.ts": "names the execution modes, one of which is called preload (SPEC RT4)",
  "src/config/load-mount-policy.ts": "places of this machine that products keep, whatever engine is used",
  "src/policy/mounts/blocked-pattern.ts": "names under which products keep keys and sockets, whatever engine is used",
  "src/workloads/proof/attack.ts": "what is known of attacks on the engines that were tried, as docs/threat-model.md",
  "src/workloads/proof/attack-groups.ts":
    "what is known of attacks on the engines that were tried, as docs/threat-model.md",
  "src/workloads/prepared-images.ts": "spellings of the default registry, as engines write them into archives",
  "src/operations/known-dangers.ts": "known faults, by the names that products have for their parts",
};
