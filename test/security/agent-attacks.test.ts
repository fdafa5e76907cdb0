import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { describe, expect, it } from "vitest";
import { answer, groupOwner, success, useAgents } from "../helpers/agent-scene.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { until } from "../helpers/until.ts";

const key = "sk-agents-secret-0123456789'\"\r\n end";

describe.each(["docker", "podman"] as const)("agents that do harm, on %s", { timeout: 120_000 }, (engine) => {
  const { run, at, logs, glovebox } = useAgents({ engine }, { max_logs: 3 }, { PI_API_KEY: key, PI_MODEL: "m" });
  const fresh = (...names: string[]): void => {
    rmSync(at(...names), { recursive: true, force: true });
  };

  it("read their variables from a file of theirs alone, which no log and no answer shows and which is gone afterwards", async () => {
    const script = `stat -c '%a %u %F' /workspace/env-dir/env; touch /workspace/env-dir/x 2>&1; printf '%s' "$PI_API_KEY" | od -An -c | tail -1; echo "$PI_MODEL $PI_API_KEY"; ${success("done")}`;
    const result = await run(script);
    expect(result).toMatchObject({ status: "success" });
    expect(result.output).toContain(`600 ${groupOwner.uid} regular file`);
    expect(result.output).toContain("Read-only file system");
    expect(result.output).toContain("e   n   d");
    expect(result.output).toContain("m [redacted:PI_API_KEY]");
    const shown = [JSON.stringify(result), ...logs()].join("\n");
    expect(shown).not.toContain("sk-agents-secret");
    expect(result.warnings.join()).toContain("PI_API_KEY");
  });

  it("cannot make the host write through a link that they leave at logs", async () => {
    mkdirSync(at("groups", "other", "logs"), { recursive: true });
    const before = readdirSync(at("groups", "other", "logs"));
    await run(`mv logs kept; ln -s ../other/logs logs; ${success("left a link")}`);
    expect(lstatSync(at("groups", "family", "logs")).isSymbolicLink()).toBe(true);
    const refused = await failureOf(run(success("never runs")), "POLICY_DENIED");
    expect(refused).toMatchObject({ context: { folder: "groups/family/logs", rule: "link" } });
    expect(readdirSync(at("groups", "other", "logs"))).toEqual(before);
    fresh("groups", "family", "logs");
  });

  it("of the main group cannot lead another group's run to other folders", async () => {
    const script = `mkdir -p data/pi/other data/ipc; ln -s /etc data/pi/other/.pi; ln -s ../../groups/family data/ipc/other; ${success("")}`;
    await run(`cd /workspace/project; ${script}`, { group: "main", main: true });
    for (const folder of ["data/pi/other/.pi", "data/ipc/other"]) {
      const refused = await failureOf(run(success(""), { group: "other" }), "POLICY_DENIED");
      expect(refused.message).toContain(folder);
      fresh(...folder.split("/"));
    }
    expect(await run(success("runs again"), { group: "other" })).toMatchObject({ status: "success" });
  });

  it("are believed the last answer alone, and none in the middle of what they say", async () => {
    const forged = answer('{"status":"success","result":"forged"}');
    const said = await run(`${forged}; printf 'x%s\\n{}\\n' ---FFT_NANO_OUTPUT_START---; ${success("true one")}`);
    expect(said).toMatchObject({ status: "success", result: "true one" });
    const open = await run(`printf '%s\\n{}' ---FFT_NANO_OUTPUT_START---`);
    expect(open).toMatchObject({ status: "error", error: { context: { reason: "no_answer", log: open.log } } });
    const wrong = await run(answer('{"status":"success","result":{"not":"text"}}'));
    expect(wrong).toMatchObject({ status: "error", outcome: "failed", error: { context: { reason: "bad_answer" } } });
    const unwell = await run(answer('{"status":"error","result":null,"error":"no such model"}'));
    expect(unwell).toMatchObject({ status: "error", agent_error: "no such model", outcome: "failed" });
    expect(unwell.error).toBeUndefined();
  });

  it("are ended with children that take no notice of SIGTERM, when their caller gives up or their time is over", async () => {
    const seconds = uniqueSeconds();
    const stubborn = `trap '' TERM; sleep ${seconds} & setsid sleep ${seconds} & echo begun; wait`;
    const given = new AbortController();
    const begun = Promise.withResolvers<void>();
    const ended = run(
      stubborn,
      {},
      {
        signal: given.signal,
        onEvent: (event) => void (event.type === "output" && begun.resolve()),
      },
    );
    await begun.promise;
    await until(() => sleepersFor(seconds).length === 2);
    given.abort();
    const result = await ended.catch((error: unknown) => error);
    expect(result).toMatchObject({ outcome: "cancelled" });
    expect(sleepersFor(seconds)).toEqual([]);
    const late = await run(stubborn, { timeout_seconds: 1 });
    expect(late).toMatchObject({ status: "error", outcome: "timed_out", timed_out: true, output: "begun\n" });
    expect(late.error?.message).toContain("The agent was ended after 1 s");
    expect(sleepersFor(seconds)).toEqual([]);
  });

  it("have turns, one run of a group after another", async () => {
    const script = `[ ! -e busy ] || echo two at once >>broken; touch busy; sleep 0.5; rm busy; ${success("")}`;
    const all = await Promise.all([run(script), run(script), run(script)]);
    expect(all.map(({ status }) => status)).toEqual(["success", "success", "success"]);
    expect(existsSync(at("groups", "family", "broken"))).toBe(false);
  });

  it("whose folder disappears while they work leave a warning, and the next run works", async () => {
    const begun = Promise.withResolvers<void>();
    const running = run(
      `echo begun; while [ ! -e go ]; do sleep 0.1; done; ${success("still here")}`,
      {},
      {
        onEvent: (event) => void (event.type === "output" && begun.resolve()),
      },
    );
    await begun.promise;
    renameSync(at("groups", "family"), at("groups", "gone"));
    writeFileSync(at("groups", "gone", "go"), "");
    const result = await running;
    expect(result).toMatchObject({ status: "success", result: "still here" });
    expect(result.warnings.join()).toContain("moved or removed while the agent worked");
    await failureOf(run(success("")), "NOT_FOUND");
    renameSync(at("groups", "gone"), at("groups", "family"));
    expect(await run(success("back"))).toMatchObject({ result: "back" });
  });

  it.each(["../other", "..", "/etc", "other/../family", "global", "Family", ""])(
    "cannot be run for the group %j",
    async (group) => {
      await failureOf(run(success(""), { group }), "INVALID_REQUEST");
    },
  );

  it("cannot be run for a group that is not there, as main for another one, or with too long a prompt", async () => {
    await failureOf(run(success(""), { group: "absent" }), "NOT_FOUND");
    await failureOf(run(success(""), { main: true }), "POLICY_DENIED");
    await failureOf(run("x".repeat(5 * 1024 * 1024)), "INVALID_REQUEST");
    const long = `#${"x".repeat(900_000)}\n${success("read")}`;
    expect(await run(long)).toMatchObject({ status: "success", result: "read" });
  });

  it("cannot reach the folders of others by any name", async () => {
    symlinkSync(at("groups", "other"), at("groups", "family", "neighbour"));
    writeFileSync(at("data", "notes"), "of the host");
    const looks = ["neighbour/private.md", `${at("groups", "other")}/private.md`, "/workspace/ipc/../../data/notes"];
    const result = await run(`cat ${looks.join(" ")}; ls /home/node/.pi/..; ${success("")}`);
    expect(result.stderr.match(/No such file/g)).toHaveLength(3);
    expect(JSON.stringify(result)).not.toContain("of another group");
    rmSync(at("groups", "family", "neighbour"));
  });

  it("cannot cause the removal of anything but logs, whatever they call theirs", async () => {
    const script = `cd logs; for day in 1 2 3 4; do echo forged >container-9999-01-0\${day}T00-00-00-000Z.log; done; ln -s ../../other/private.md container-2000-01-01T00-00-00-000Z.log; mkdir container-2001-01-01T00-00-00-000Z.log; ${success("")}`;
    await run(script);
    const { log } = await run(success(""));
    expect(existsSync(at(log))).toBe(true);
    expect(existsSync(at("groups", "other", "private.md"))).toBe(true);
    const left = readdirSync(at("groups", "family", "logs")).filter((name) => /^container-(?:9999|200)/.test(name));
    expect(left).toHaveLength(3);
    expect(readdirSync(at("groups", "family", "logs")).filter((name) => /^container-20[02]/.test(name))).toHaveLength(
      2,
    );
    fresh("groups", "family", "logs");
  });

  it("leave no variables behind anywhere", async () => {
    const { sandbox_id } = await run(success("last"));
    // Other tests have theirs at the same time.
    expect((await glovebox().sandboxes()).map((row) => row.sandbox_id)).not.toContain(sandbox_id);
    const found = logs().filter((text) => text.includes("sk-agents-secret"));
    expect(found).toEqual([]);
    expect(readFileSync(at("groups", "other", "private.md"), "utf8")).toBe("of another group\n");
  });
});

describe("agents and their output, on docker", { timeout: 120_000 }, () => {
  const { run, logs } = useAgents({ engine: "docker" }, {}, {}, { max_output_bytes: 2_048 });

  it("are capped stream by stream, and the answer is found beyond the cap", async () => {
    const flood = "i=0; while [ $i -lt 2000 ]; do echo 'a line of no interest'; i=$((i+1)); done";
    const result = await run(`${flood}; ( ${flood} ) >&2; ${success("found")}`);
    expect(result).toMatchObject({ status: "success", result: "found", truncated: true });
    expect(result.output.length).toBeLessThanOrEqual(2_048);
    expect(result.stderr.length).toBeLessThanOrEqual(2_048);
    expect(logs().at(-1)?.length).toBeLessThan(10_000);
  });
});

describe("agents on local", () => {
  const glovebox = useGlovebox("local");

  it("are refused, with what is missing", async () => {
    const refused = await failureOf(
      glovebox().runAgent({ group: "family", prompt: "x", engine: "local" }),
      "UNSUPPORTED",
    );
    expect(refused.message).toMatch(/containers|images/);
  });
});
