import { afterAll, describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { expectedAt, places, type Attack, type Place } from "../../src/workloads/proof/attack.ts";
import {
  bombContainer,
  bombSandbox,
  eachAtOnce,
  surviveHost,
  surviveSandbox,
  type Survival,
} from "./attacks/bomb-runs.ts";
import { bombAttacks } from "../../src/workloads/proof/attack-groups.ts";
import { resultAttacks, survivalAttacks } from "./attacks/resource-attacks.ts";
import { openResultScene } from "./attacks/result-attacks.ts";
import { usePlace } from "./attacks/use-place.ts";

const results = openResultScene();
afterAll(() => results[Symbol.dispose]());

const bombIds = bombAttacks.map(({ id }) => id);
const title = "$id ($tries): $verdict";
const rowsAt = (attacks: readonly Attack[], place: Place): readonly (Attack & { verdict: string })[] =>
  attacks.map((attack) => ({ ...attack, ...expectedAt(attack, place) }));
const wanted = (verdict: string): RegExp => (verdict === "denied" ? /^BLOCKED/ : /^ESCAPED/);

describe.each(places)("a greedy program in a sandbox of %s", (place) => {
  const used = usePlace(place);
  let bombed: ReadonlyMap<string, string> | undefined;
  let collected: ReadonlyMap<string, string> | undefined;

  it.each(rowsAt(bombAttacks, place))(title, async ({ id, verdict }) => {
    bombed ??= await eachAtOnce(bombIds, (each) => bombSandbox(used, each));
    expect(bombed.get(id)).toMatch(wanted(verdict));
  });

  it.each(rowsAt(survivalAttacks, place))(title, async ({ id, verdict }) => {
    expect(await surviveSandbox(used, id as Survival)).toMatch(wanted(verdict));
  });

  it.each(rowsAt(resultAttacks, place))(title, async ({ id, verdict }) => {
    collected ??= await results.fromSandbox(used);
    expect(collected.get(id)).toMatch(wanted(verdict));
  });
});

describe("without our policy", () => {
  useGlovebox("docker");
  let bombed: ReadonlyMap<string, string> | undefined;
  let collected: ReadonlyMap<string, string> | undefined;

  it.each(bombAttacks)("$id ($tries): gets through", async ({ id }) => {
    bombed ??= await eachAtOnce(bombIds, bombContainer);
    expect(bombed.get(id)).toMatch(/^ESCAPED/);
  });

  it.each(survivalAttacks)("$id ($tries): gets through", ({ id }) => {
    expect(surviveHost(id as Survival)).toMatch(/^ESCAPED/);
  });

  it.each(resultAttacks)("$id ($tries): gets through", ({ id }) => {
    collected ??= results.fromHost();
    expect(collected.get(id)).toMatch(/^ESCAPED/);
  });
});
