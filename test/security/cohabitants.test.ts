import { describe, expect, it } from "vitest";
import { gibibyte, mebibyte } from "../../src/base/bytes.ts";
import type { Glovebox } from "../helpers/wire-glovebox.ts";
import { settled } from "../engine-contract/hostile-neighbour.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import { heldBytes } from "../helpers/held-memory.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";

/** By then a call beside a hostile program has ended, one way or the other. */
const withinMs = 60_000;
const longer = { timeout: 240_000 };
const begunLater = ["sh", "-c", 'sleep 2; exec "$@"', "sh"];
const hostiles = [
  ["stops everything", fixtureProgram("stops-everything.py", "SIGSTOP")],
  ["kills everything", fixtureProgram("stops-everything.py", "SIGKILL")],
  ["writes into everything", fixtureProgram("floods-what-it-finds.py")],
] as const;

/** Three runs of others at the same time return what they print. */
async function expectOthersUnharmed(glovebox: Glovebox): Promise<void> {
  const runs = [1, 2, 3].map((number) => glovebox.execute({ language: "python", code: `print(${number} * 111)` }));
  expect((await Promise.all(runs)).map(({ outcome, stdout }) => [outcome, stdout])).toEqual(
    [1, 2, 3].map((number) => ["completed", `${number * 111}\n`]),
  );
}

/** How a call beside a hostile program may end: the program can spoil only its own sandbox. */
const spoilt = ["done", "TIMEOUT", "SANDBOX_LOST", "POLICY_DENIED"];

describe.each(engines)("beside hostile programs on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages, max_containers: 4 } });

  it("places of one-shots come back, whatever the programs do to our helpers", longer, async () => {
    const runs = hostiles
      .flatMap(([, command]) => [command, command])
      .map((command) =>
        glovebox().execute({ language: "python", code: command[2] ?? "", args: command.slice(3), timeout_seconds: 2 }),
      );
    const ends = await Promise.all(runs.map((run) => settled(run, withinMs * 2)));
    expect(ends).toEqual(runs.map(() => "done"));
    const outcomes = (await Promise.all(runs)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => !["timed_out", "sandbox_lost"].includes(outcome))).toEqual([]);
    await expectOthersUnharmed(glovebox());
  });

  it.each(hostiles)(
    "a session with one that %s answers, ends, and is as new afterwards",
    longer,
    async (_, command) => {
      const before = heldBytes();
      const python = (code: string) =>
        glovebox().runCode({ language: "python", code, packages: [], timeout_seconds: 3, session_id });
      // Later than the program of the call beside it, so that this can also be stopped after it has begun, not only before.
      const { process_id, session_id } = await glovebox().processes.start({ command: [...begunLater, ...command] });
      // Not kept anywhere: if others wrote into a call's output, the answer has as much of it as its limit allows.
      const ends = await Promise.all(
        [
          python("import time; time.sleep(60)"),
          glovebox().listFiles({ session_id }),
          expectOthersUnharmed(glovebox()),
        ].map((call) => settled(call, withinMs)),
      );
      expect(ends.slice(0, 2).filter((end) => !spoilt.includes(end))).toEqual([]);
      expect(ends[2]).toBe("done");
      const stopped = await settled(glovebox().processes.stop({ process_id, session_id }), withinMs);
      expect(spoilt).toContain(stopped);
      expect(await python("print('after')")).toMatchObject({ outcome: "completed", stdout: "after\n" });
      expect(await settled(glovebox().endSession({ session_id }), withinMs)).toBe("done");
      await expect.poll(() => heldBytes() - before, { timeout: 30_000, interval: 500 }).toBeLessThan(32 * mebibyte);
      expect(process.memoryUsage().rss).toBeLessThan(gibibyte);
    },
  );

  it.for(hostiles)("so does an environment with one that %s", longer, async ([, command], context) => {
    if (engine === "local") context.skip("the local engine has no environments");
    const { environments, processes } = glovebox();
    const { env_id } = await environments.create({ image: testImages.python });
    const say = (word: string) => environments.runCommand({ env_id, command: ["echo", word], timeout_seconds: 3 });
    const { process_id } = await processes.start({ env_id, command: [...command] });
    const ends = await Promise.all(
      [say("beside"), expectOthersUnharmed(glovebox())].map((call) => settled(call, withinMs)),
    );
    expect(spoilt).toContain(ends[0]);
    expect(ends[1]).toBe("done");
    expect(spoilt).toContain(await settled(processes.stop({ process_id, env_id }), withinMs));
    expect(await say("after")).toMatchObject({ outcome: "completed", stdout_tail: "after\n" });
    expect(await settled(environments.destroy({ env_id }), withinMs)).toBe("done");
  });
});
