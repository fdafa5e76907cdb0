import { describe, expect, it } from "vitest";
import { hostileProgram, sanitizedSupervisor, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { numbers } from "../helpers/supervisor/frames.ts";
import { operate } from "../helpers/supervisor/operations.ts";
import { ProcessLimit } from "../helpers/supervisor/process-limit.ts";
import { flags, Supervised } from "../helpers/supervisor/supervised.ts";

const reason = whyNoSupervisor();
const hostile = "/tmp/hostile";

describe.skipIf(reason !== undefined).each([
  ["below wardens", {}],
  ["of groups", { lacks: ["no-subreaper"], setup: { firstTag: 200_000, tagCount: 256 } }],
] as const)(`a full table of processes %s ${reason ?? ""}`, (_, options) => {
  it.for(["bomb", "comet", "comet-daemon"])(
    "with a %s stops no file operation and no end of a tree",
    { timeout: 60_000 },
    async (how, context) => {
      using stack = new DisposableStack();
      const made = ProcessLimit.make(36);
      if (typeof made === "string") return context.skip(made);
      stack.use(made);
      await using subject = await Supervised.start({
        ...{ binary: sanitizedSupervisor(), mounts: ["--ro-bind", hostileProgram(), hostile], starter: made.starter },
        ...options,
      });
      const other = subject.spawn({ command: ["cat"], flags: flags.input });
      await subject.got(other, "STARTED");
      const attacker = subject.spawn({ command: [hostile, how] });
      await subject.until("ready", () => subject.record(attacker).stdout.includes("ready"));
      const attackers = how === "bomb" ? [attacker] : [attacker, subject.spawn({ command: [hostile, "bomb"] })];
      await expect.poll(() => made.failures).toBeGreaterThan(0);
      const refused = await subject.ended(subject.spawn({ command: ["true"] }));
      // A comet leaves a place free for a moment.
      const full = how === "bomb" ? [numbers["STAGE_FORK"]] : [numbers["STAGE_FORK"], 0];
      expect(full).toContain(refused.end.fields["stage"]);
      const written = await operate(subject, { verb: "WRITE", folder: "/tmp", path: "file" }, "content");
      expect(written.reason).toBe("DONE");
      await subject.ping();
      for (const stream of attackers) subject.frame("END_TREE", stream, { graceMs: 0 });
      for (const stream of attackers) {
        const { end } = await subject.ended(stream);
        const { reason, stage } = end.fields;
        // A comet may leave its helper no place from the start.
        const isRefused = stream !== attacker && stage === numbers["STAGE_FORK"];
        expect(reason).toBe(numbers[isRefused ? "END_FAILED" : "END_DONE"]);
      }
      subject.frame("INPUT", other, {}, Buffer.from("unharmed"));
      await subject.until("answer", () => subject.record(other).stdout.includes("unharmed"));
      expect((await subject.run({ command: ["echo", "again"] })).stdout).toBe("again\n");
      expect(await operate(subject, { verb: "READ", folder: "/tmp", path: "missing" })).toMatchObject({ errno: 2 });
    },
  );
});
