import { afterAll, describe, expect, it, onTestFailed } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { expectedAt, places } from "../../src/workloads/proof/attack.ts";
import { neighbourAttacks, neighbourRuns } from "./attacks/neighbour-attacks.ts";
import { attackSandboxAfter, attackSandboxBeside, openSharingContainers } from "./attacks/neighbour-scene.ts";
import { usePlace } from "./attacks/use-place.ts";

describe.each(places)("a sandbox beside another on %s", (place) => {
  const used = usePlace(place);
  let verdicts: ReadonlyMap<string, string> | undefined;
  const attack = async (): Promise<ReadonlyMap<string, string>> =>
    new Map([
      ...(await attackSandboxBeside("lives-as-neighbour", used, neighbourRuns.beside)),
      ...(await attackSandboxAfter(used, neighbourRuns.afterwards)),
      ...(await attackSandboxBeside("hoards-watchers", used, neighbourRuns.hoarding)),
    ]);

  const rows = neighbourAttacks.map((each) => ({ ...each, ...expectedAt(each, place) }));
  it.each(rows)("$id ($tries): $verdict", async ({ id, verdict }) => {
    // A program that hoards may still be at it on a loaded machine: another try looks again.
    onTestFailed(() => void (verdicts = undefined));
    verdicts ??= await attack();
    expect(verdicts.get(id)).toMatch(verdict === "denied" ? /^BLOCKED/ : /^ESCAPED/);
  });
});

describe("without our policy", () => {
  useGlovebox("docker");
  const containers = openSharingContainers();
  let verdicts: ReadonlyMap<string, string> | undefined;
  const user = ["--user", "1000:1000"];
  // Done by the first test, not before all of them: without Docker, each test is skipped.
  const attack = async (): Promise<ReadonlyMap<string, string>> =>
    new Map([
      ...(await containers.beside("lives-as-neighbour", neighbourRuns.beside)),
      ...(await containers.afterwards(neighbourRuns.afterwards)),
      ...(await containers.beside("hoards-watchers", neighbourRuns.hoarding, user)),
    ]);
  afterAll(() => containers[Symbol.dispose]());

  it.each(neighbourAttacks)("$id ($tries): gets through", async ({ id }) => {
    onTestFailed(() => void (verdicts = undefined));
    verdicts ??= await attack();
    expect(verdicts.get(id)).toMatch(/^ESCAPED/);
  });
});
