import { controls, expectedAt, places, type Attack } from "../../../src/workloads/proof/attack.ts";
import { directAttacks, programAttacks, bombAttacks } from "../../../src/workloads/proof/attack-groups.ts";
import { mountAttacks } from "./mount-attacks.ts";
import { neighbourAttacks } from "./neighbour-attacks.ts";
import { proxyAttacks } from "./proxy-attacks.ts";
import { warmAttacks } from "./warm-attacks.ts";
import { resultAttacks, survivalAttacks } from "./resource-attacks.ts";

/** Every attack that the suite runs. */
export const attacks: readonly Attack[] = [
  ...programAttacks,
  ...directAttacks,
  ...proxyAttacks,
  ...neighbourAttacks,
  ...warmAttacks,
  ...mountAttacks,
  ...bombAttacks,
  ...survivalAttacks,
  ...resultAttacks,
];

/** Whether an attack fails in every place and was shown to succeed elsewhere. */
export function isProven(attack: Attack): boolean {
  return attack.unshown === undefined && places.every((place) => expectedAt(attack, place).verdict !== "open");
}

/** The table in docs/threat-model.md: what the tests in test/security require of each engine. */
export function attackTable(): string {
  const groups = Map.groupBy(attacks, ({ group }) => group);
  const proven = attacks.filter(isProven).length;
  const everywhere = attacks.filter(
    (attack) => isProven(attack) && places.every((place) => attack.exceptions[place] === undefined),
  ).length;
  const notes = new Notes();
  const tables = [...groups].map(([group, rows]) => tableOf(group, rows, notes));
  return [
    `${attacks.length} attacks. ${proven} were shown to get through where our policy does not hold and get nothing of the host in any`,
    `sandbox; ${everywhere} of these are denied in all four places, the others are contained in some.`,
    "",
    ...tables,
    ...notes.lines,
  ].join("\n");
}

/** Footnotes, each once. */
class Notes {
  readonly #texts: string[] = [];

  mark(text: string | undefined): string {
    if (text === undefined) return "";
    if (!this.#texts.includes(text)) this.#texts.push(text);
    return ` (${this.#texts.indexOf(text) + 1})`;
  }

  get lines(): readonly string[] {
    const begin = (text: string): string =>
      text.startsWith("gVisor") ? text : text.charAt(0).toUpperCase() + text.slice(1);
    return this.#texts.map((text, index) => `${index + 1}. ${begin(text)}.`);
  }
}

function tableOf(group: string, rows: readonly Attack[], notes: Notes): string {
  return [
    `### ${group}`,
    "",
    "| a program tries to | docker | podman | gVisor | local | gets through in |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows.map((attack) => `| ${cellsOf(attack, notes).join(" | ")} |`),
    "",
  ].join("\n");
}

function cellsOf(attack: Attack, notes: Notes): readonly string[] {
  const { tries, control, unshown } = attack;
  return [
    tries.replaceAll("|", "\\|"),
    ...places.map((place) => {
      const { verdict, why } = expectedAt(attack, place);
      return `${verdict === "open" ? "**open**" : verdict}${notes.mark(why)}`;
    }),
    unshown === undefined ? controls[control] : `not shown${notes.mark(unshown)}`,
  ];
}
