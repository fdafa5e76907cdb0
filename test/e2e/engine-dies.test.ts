import { describe, expect, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { mebibyte } from "../../src/base/bytes.ts";
import { labels, managed } from "../../src/engines/labels.ts";
import type { ContainerSpec } from "../../src/engines/container-spec.ts";
import type { ContainerState, Engine } from "../../src/engines/engine.ts";
import { subjects } from "../engine-contract/subjects.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { OwnEngine } from "../helpers/own-engine.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { skipOrFail } from "../helpers/require.ts";
import { until } from "../helpers/until.ts";
import { RunningProcess } from "../helpers/running-process.ts";

const image = process.env["GLOVEBOX_TEST_IMAGE_MINIMAL"] ?? "glovebox-test/minimal:1";

function spec(): ContainerSpec {
  return {
    name: createId("glovebox-test"),
    image,
    labels: { ...managed, [labels.owner]: "engine-dies" },
    limits: { cpus: 1, memoryBytes: 64 * mebibyte, pids: 64 },
    scratch: [{ path: "/work", sizeBytes: 4 * mebibyte }],
  };
}

async function runs(engine: Engine): Promise<string> {
  const container = await engine.create(spec());
  await container.start();
  const { stdout } = await new RunningProcess(await container.exec({ command: ["echo", "well"] })).finish();
  await container.remove();
  return stdout.toString();
}

/** Why the test cannot have its own engine. */
async function fault(kind: "docker" | "podman"): Promise<string | null> {
  if (process.getuid?.() !== 0) return "only root can start one of the test's own";
  const engine = await subjects[kind].make();
  try {
    const probe = await engine.probe();
    return probe.available ? null : probe.reason;
  } finally {
    await engine.close();
  }
}

describe.each(["docker", "podman"] as const)("a %s that dies under its runs", (kind) => {
  it("is reported as such, works again when it is back, and leaves nothing", { timeout: 180_000 }, async (context) => {
    const reason = await fault(kind);
    if (reason !== null) skipOrFail(context, kind, reason);
    await using own = await OwnEngine.start(kind, image);
    const engine = await subjects[kind].makeAt(own.socketPath);
    try {
      expect(await runs(engine)).toBe("well\n");
      const seconds = uniqueSeconds();
      const container = await engine.create(spec());
      await container.start();
      const sleeper = new RunningProcess(await container.exec({ command: ["sleep", seconds] }));
      const talker = new RunningProcess(await container.exec({ command: ["sh", "-c", "while :; do echo on; done"] }));
      await talker.until("stdout", "on\n");
      const waiting = container.wait().catch((error: unknown) => error);

      await own.kill();

      for (const { process: lost } of [sleeper, talker]) {
        const error = await failureOf(lost.exit, "SANDBOX_LOST");
        expect(error.retryable).toBe(true);
        expect(error.message + error.suggestion).not.toMatch(/\bE[A-Z]{4,}\b|\/tmp\//);
      }
      const ended = await waiting;
      expect(ended instanceof Error || !(ended as ContainerState).running).toBe(true);
      const probe = await engine.probe();
      expect(probe).toMatchObject({ available: false });
      const refused = await failureOf(engine.create(spec()), "ENGINE_UNAVAILABLE");
      expect(refused.suggestion).not.toBe("");

      await own.restart();

      expect(await engine.probe()).toMatchObject({ available: true });
      expect(await runs(engine)).toBe("well\n");
      // As the sweep does: by labels, whatever made it and whatever its state is.
      await Promise.all((await engine.list(managed)).map((summary) => summary.remove()));
      // Docker may list for a moment one that it removes by itself after its restart.
      await until(async () => (await engine.list(managed)).length === 0);
      expect(sleepersFor(seconds)).toEqual([]);
      await container.remove();
    } finally {
      await engine.close();
    }
  });
});
