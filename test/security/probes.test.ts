import { describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { corpusBombs, corpusProbes, probesPresent, type Bomb } from "../helpers/probes.ts";
import { skipOrFail } from "../helpers/require.ts";
import { places } from "../../src/workloads/proof/attacks/attack.ts";
import { everyRight } from "./attacks/host-scene.ts";
import { attackFromContainer, attackFromSandbox, type Verdicts } from "./attacks/run-attacks.ts";
import { usePlace } from "./attacks/use-place.ts";

const probes = corpusProbes();
const bombs = corpusBombs();

/** What gVisor's own kernel does for its sandbox, without the host's having a part in it. */
const contained: ReadonlySet<string> = new Set([
  ...["unshare_userns", "unshare_mountns", "syslog_read", "rt_priority"],
  // Devices that are gVisor's own, and marks of a filter that its kernel takes the place of.
  ...["dev_mem_kmsg", "no_new_privs", "seccomp_filter"],
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

  // What spins takes a processor from everything else until its time is over.
  const secondsOf = (bomb: Bomb): number => {
    if (endsByItself(bomb)) return 30;
    return bomb.expect.timeout === true && bomb.expect.stdout_re === undefined ? 3 : 10;
  };

  const faultOf = async (bomb: Bomb): Promise<string | null> => {
    const response = await glovebox().execute({
      language: bomb.language,
      code: bomb.code,
      timeout_seconds: secondsOf(bomb),
      limits: { memory_mb: 128, pids: 64 },
      ...request,
    });
    return differenceOf(bomb, response);
  };

  // What bombs do under gVisor is tried by resource-attacks.test.ts.
  const tried = place === "runsc" ? [] : bombs;
  it.each(tried.filter((bomb) => bomb.expect.timeout !== true))("$id ends as it must", async (bomb) => {
    expect(await faultOf(bomb)).toBeNull();
  });

  // Side by side: all they can do to each other is to be late, and their time runs out in any case.
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

interface Ended {
  readonly outcome: string;
  readonly exit_code: number | null;
  readonly timed_out: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Whether nothing but its own end is as good; such a bomb has time on a busy machine. */
function endsByItself({ expect: wanted }: Bomb): boolean {
  return wanted.timeout !== true && ![wanted.exit_code ?? []].flat().includes(124);
}

/** What of the bomb's expected end did not come true, in words. */
function differenceOf({ expect: wanted }: Bomb, ended: Ended): string | null {
  const shown = JSON.stringify({ ...ended, stdout: ended.stdout.slice(0, 200), stderr: ended.stderr.slice(-300) });
  const codes = [wanted.exit_code ?? []].flat();
  // 124 among the expected codes stands for a time-out that is as good as another end.
  const mayTimeOut = wanted.timeout === true || codes.includes(124);
  if (ended.timed_out ? !mayTimeOut : wanted.timeout === true) return `timed_out: ${shown}`;
  if (codes.length > 0 && !ended.timed_out && !codes.includes(ended.exit_code ?? -1)) return `exit code: ${shown}`;
  // What the kernel ended for want of memory had no time for its last words.
  if (ended.outcome === "oom_killed" && codes.includes(137)) return null;
  if (wanted.stdout_re !== undefined && !new RegExp(wanted.stdout_re).test(ended.stdout)) return `stdout: ${shown}`;
  if (wanted.stderr_re !== undefined && !new RegExp(wanted.stderr_re).test(ended.stderr)) return `stderr: ${shown}`;
  return null;
}
