import { afterAll, describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { expectedAt, places } from "../../src/workloads/proof/attack.ts";
import { directAttacks } from "../../src/workloads/proof/attack-groups.ts";
import { openFarScene } from "./attacks/far-scene.ts";
import { unsealed } from "./attacks/host-scene.ts";
import { proxyAttackRuns, proxyAttacks } from "./attacks/proxy-attacks.ts";
import { attackFromContainer, attackFromSandbox, type Verdicts } from "./attacks/run-attacks.ts";
import { usePlace } from "./attacks/use-place.ts";

const scene = await openFarScene();
afterAll(() => scene[Symbol.dispose]());
const attacks = [...directAttacks, ...proxyAttacks];
const runs = [...directAttacks, ...proxyAttackRuns(scene.ports)];

describe.each(places)("a program with a network policy in a sandbox of %s", (place) => {
  const { glovebox, request } = usePlace(place, { settings: scene.settings });
  let verdicts: Verdicts | undefined;
  const verdictOf = async (id: string): Promise<string | undefined> => {
    const sealed = { ...request, network: [...scene.network] };
    verdicts ??= (await attackFromSandbox(glovebox(), runs, scene.parameters, sealed)).verdicts;
    return verdicts.get(id);
  };

  const rows = attacks.map((attack) => ({ ...attack, ...expectedAt(attack, place) }));
  it.each(rows)("$id ($tries): $verdict", async ({ id, verdict }) => {
    expect(await verdictOf(id)).toMatch(verdict === "denied" ? /^BLOCKED/ : /^ESCAPED/);
  });

  it("reaches no server but the allowed ones, and looks up no name but the listed", async () => {
    await verdictOf("");
    expect(scene.secretVisits()).toBe(0);
    expect(scene.namesAsked).toContain("hidden.test");
    expect([...scene.namesAsked].filter((name) => /unlisted|tunnel|evil/.test(name))).toEqual([]);
  });
});

describe("without our policy", () => {
  useGlovebox("docker");
  let verdicts: Verdicts | undefined;
  // Done by the first test, not before all of them: without Docker, each test is skipped.
  const verdictOf = async (id: string): Promise<string | undefined> => {
    const parameters = { ...scene.parameters, proxyPort: scene.naiveProxyPort };
    verdicts ??= await attackFromContainer(unsealed, runs, parameters);
    return verdicts.get(id);
  };

  it.each(attacks)("$id ($tries): gets through", async ({ id }) => {
    expect(await verdictOf(id)).toMatch(/^ESCAPED/);
  });

  it("carries data out in names", async () => {
    await verdictOf("");
    expect(scene.namesAsked).toContain("c3rvbgvu.tunnel.test");
  });
});
