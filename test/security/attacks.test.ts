import { afterAll, describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { expectedAt, places, type Control } from "../../src/workloads/proof/attack.ts";
import { openHostScene } from "./attacks/host-scene.ts";
import { programAttacks } from "../../src/workloads/proof/attack-groups.ts";
import { attackFromSandbox, type Verdicts } from "./attacks/run-attacks.ts";
import { usePlace } from "./attacks/use-place.ts";

const scene = await openHostScene();
afterAll(() => scene[Symbol.asyncDispose]());

describe.each(places)("a program in a sandbox of %s", (place) => {
  const { glovebox, request } = usePlace(place);
  let verdicts: Verdicts | undefined;
  const verdictOf = async (id: string): Promise<string | undefined> => {
    verdicts ??= (await attackFromSandbox(glovebox(), programAttacks, scene.parameters, request)).verdicts;
    return verdicts.get(id);
  };

  const rows = programAttacks.map((attack) => ({ ...attack, ...expectedAt(attack, place) }));
  it.each(rows)("$id ($tries): $verdict", async ({ id, verdict }) => {
    expect(await verdictOf(id)).toMatch(verdict === "denied" ? /^BLOCKED/ : /^ESCAPED/);
  });
});

describe("without our policy", () => {
  useGlovebox("docker");
  const shown = programAttacks.filter(({ unshown }) => unshown === undefined);
  let verdicts: Map<string, string> | undefined;
  // Done by the first test, not before all of them: without Docker, each test is skipped.
  const attackAll = async (): Promise<Map<string, string>> => {
    const all = new Map<string, string>();
    for (const [control, attack] of Object.entries(scene.controls)) {
      const own = shown.filter((each) => each.control === (control as Control));
      for (const [id, said] of await attack(own)) all.set(id, said);
    }
    return all;
  };

  it.each(shown)("$id ($tries): gets through", async ({ id }) => {
    verdicts ??= await attackAll();
    expect(verdicts.get(id)).toMatch(/^ESCAPED/);
  });
});
