import { describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { bombFault } from "../helpers/bomb-fault.ts";
import { corpusBombs, corpusProbes, probesPresent, type Bomb } from "../helpers/probes.ts";
import { skipOrFail } from "../helpers/require.ts";
import { places } from "../../src/workloads/proof/attack.ts";
import { everyRight } from "./attacks/host-scene.ts";
import { attackFromContainer, attackFromSandbox, type Verdicts } from "./attacks/run-attacks.ts";
import { usePlace } from "./attacks/use-place.ts";

const probes = corpusProbes();
const bombs = corpusBombs();

/** What gVisor's own kernel does for its sandbox without involving the host. */
const contained: ReadonlySet<string> = new Set([
  ...["unshare_userns", "unshare_mountns", "syslog_read", "rt_priority"],
  // Devices that belong to gVisor, and a sign that its kernel does not show.
  ...["dev_mem_kmsg", "no_new_privs"],
]);

it("the corpus of probes was read", (context) => {
  if (!probesPresent) skipOrFail(context, "corpus", "../shared/corpus is not there");
  expect(probes.length).toBeGreaterThanOrEqual(40);
  expect(bombs.length).toBeGreaterThanOrEqual(25);
});

describe.each(places)("on %s", (place) => {
  const { glovebox, request } = usePlace(place);
  let verdicts: Verdicts | undefined;

  it.each(probes)("$id is blocked", async ({ id }) => {
    verdicts ??= (await attackFromSandbox(glovebox(), probes, {}, request)).verdicts;
    expect(verdicts.get(id)).toMatch(place === "runsc" && contained.has(id) ? /^ESCAPED/ : /^BLOCKED/);
  });

  const faultOf = (bomb: Bomb): Promise<string | null> =>
    bombFault(bomb, (bombRequest) => glovebox().execute({ ...bombRequest, ...request }));

  // Bombs under gVisor are tested by resource-attacks.test.ts.
  const tried = place === "runsc" ? [] : bombs;
  it.each(tried.filter((bomb) => bomb.expect.timeout !== true))("$id ends as it must", async (bomb) => {
    expect(await faultOf(bomb)).toBeNull();
  });

  // In parallel: they can only slow each other down, and their time runs out in any case.
  it.concurrent.each(tried.filter((bomb) => bomb.expect.timeout === true))("$id ends as it must", async (bomb) => {
    expect(await faultOf(bomb)).toBeNull();
  });

  it("serves the next run as if nothing had happened", async () => {
    const response = await glovebox().execute({ language: "python", code: "print('fine')", ...request });
    expect(response.stdout).toBe("fine\n");
  });
});

describe("without our policy", () => {
  useGlovebox("docker");
  const shown = probes.filter((probe) => probe.escapesWithoutPolicy);
  let verdicts: Verdicts | undefined;

  it.each(shown)("$id gets out", async ({ id }) => {
    verdicts ??= await attackFromContainer(["--network", "host", ...everyRight], shown, {});
    expect(verdicts.get(id)).toMatch(/^ESCAPED/);
  });
});
