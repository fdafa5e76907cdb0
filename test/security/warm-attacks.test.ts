import { describe, expect, it } from "vitest";
import { places } from "../helpers/open-glovebox.ts";
import { useWarmGlovebox } from "../helpers/warm-glovebox.ts";
import { expectedAt } from "../../src/workloads/proof/attack.ts";
import { warmAttacks } from "./attacks/warm-attacks.ts";
import { attackNextRun, inReusedWorker, inWarmSandboxes } from "./attacks/warm-scene.ts";

describe.each(places)("a run in a sandbox that waited, beside another, on $name", (place) => {
  const warm = useWarmGlovebox(place);
  let verdicts: ReadonlyMap<string, string> | undefined;
  const at = place.runtime.oci_runtime ?? place.engine;
  const rows = warmAttacks.map((each) => ({ ...each, ...expectedAt(each, at) }));

  it.each(rows)("$id ($tries): $verdict", async ({ id, verdict }) => {
    verdicts ??= await attackNextRun(inWarmSandboxes(warm, place.runtime));
    expect(verdicts.get(id)).toMatch(verdict === "denied" ? /^BLOCKED/ : /^ESCAPED/);
  });
});

describe("in one interpreter for one program after another", () => {
  let verdicts: ReadonlyMap<string, string> | undefined;

  it.each(warmAttacks)("$id ($tries): gets through", async ({ id }) => {
    verdicts ??= await attackNextRun(inReusedWorker);
    expect(verdicts.get(id)).toMatch(/^ESCAPED/);
  });
});
