import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { mebibyte } from "../../src/base/bytes.ts";
import { AppleEngine } from "../../src/engines/apple/apple-engine.ts";
import { deadlinesMs, type Deadline } from "../../src/engines/apple/container-command.ts";
import { healingEngine } from "../../src/engines/apple/open-apple.ts";
import type { ContainerSpec } from "../../src/engines/container-spec.ts";
import type { Container, Engine } from "../../src/engines/engine.ts";
import type { RestartRule } from "../../src/engines/engine-surroundings.ts";
import { runMended } from "../../src/engines/run-mended.ts";
import { installAppleCli, type AppleCli } from "../apple-cli/install.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { RunningProcess } from "../helpers/running-process.ts";

let cli: AppleCli;
let folder: string;
let folders = 0;
const made: Container[] = [];
const labels = { "glovebox.owner": createId("apple-faults") };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "apple-faults-"));
  cli = await installAppleCli();
});

afterEach(async () => {
  cli.fail(undefined);
  await cli.become("1.2.2");
  await cli.call(["system", "start"]);
  await Promise.all(made.splice(0).map((container) => container.remove()));
});

afterAll(async () => {
  await cli.remove();
  await rm(folder, { recursive: true });
});

function apple(deadlines: Partial<Record<Deadline, number>> = {}): AppleEngine {
  const environment = { ...process.env, PATH: `${cli.binFolder}:${process.env["PATH"]}` } as Record<string, string>;
  return new AppleEngine({ environment, architecture: process.arch, deadlines: { ...deadlinesMs, ...deadlines } });
}

function spec(): ContainerSpec {
  const limits = { cpus: 1, memoryBytes: 256 * mebibyte, pids: 64 };
  return { name: createId("apple"), image: "glovebox-test/minimal:1", labels, limits, scratch: [] };
}

async function idle(engine: Engine): Promise<Container> {
  const container = await engine.create(spec());
  made.push(container);
  await container.start();
  return container;
}

/** Volumes of the service. */
async function volumes(): Promise<readonly { name: string; sizeInBytes: number }[]> {
  const { stdout } = await cli.call(["volume", "list", "--format", "json"]);
  return (JSON.parse(stdout) as { configuration: { name: string; sizeInBytes: number } }[]).map(
    ({ configuration: { name, sizeInBytes } }) => ({ name, sizeInBytes }),
  );
}

describe("scratch of a container of Apple's that its memory has no room for", () => {
  const large = (): ContainerSpec => ({ ...spec(), scratch: [{ path: "/work", sizeBytes: 192 * mebibyte }] });

  it("is a volume of its size, which goes with the container", async () => {
    const container = await apple().create(large());
    made.push(container);
    expect(await volumes()).toEqual([{ name: `${container.id}.0`, sizeInBytes: 192 * mebibyte }]);
    await container.remove();
    expect(await volumes()).toEqual([]);
  });

  it("is found and removed by its labels when a crash has left it behind", async () => {
    const engine = apple();
    const { id } = await engine.create(large());
    await cli.call(["delete", "--force", id]);
    const [left, ...others] = await engine.list(labels);
    expect(left).toMatchObject({ name: id, labels, running: false });
    expect(others).toEqual([]);
    await left?.remove();
    expect(await volumes()).toEqual([]);
    expect(await engine.list(labels)).toEqual([]);
  });

  it("is left by no creation that fails", async () => {
    const engine = apple({ create: 6_000 });
    await engine.capabilities();
    cli.fail({ kind: "interrupted", commands: ["create"] });
    await failureOf(engine.create(large()), "ENGINE_UNAVAILABLE");
    cli.fail({ kind: "hang", commands: ["volume create"] });
    await failureOf(engine.create(large()), "ENGINE_UNAVAILABLE");
    cli.fail(undefined);
    expect(await volumes()).toEqual([]);
    expect(await engine.list(labels)).toEqual([]);
  });
});

describe("a fault of Apple's service", () => {
  it("that is down is reported, with how to start it", async () => {
    cli.fail({ kind: "daemon-down" });
    const engine = apple();
    const howToStart = expect.stringContaining("container system start");
    expect(await engine.probe()).toMatchObject({ available: false, howToStart });
    expect(await failureOf(engine.list(labels), "ENGINE_UNAVAILABLE")).toMatchObject({ suggestion: howToStart });
  });

  it("that hangs ends a call at its deadline, and a creation leaves nothing", async () => {
    const engine = apple({ create: 4_000 });
    await engine.capabilities();
    cli.fail({ kind: "hang", commands: ["create"] });
    const error = await failureOf(engine.create(spec()), "ENGINE_UNAVAILABLE");
    expect(error).toMatchObject({ message: expect.stringContaining("did not within 4 s") });
    expect(await engine.list(labels)).toEqual([]);
  });

  it("that breaks off a creation leaves nothing", async () => {
    const engine = apple();
    await engine.capabilities();
    cli.fail({ kind: "interrupted", commands: ["create"] });
    const error = await failureOf(engine.create(spec()), "ENGINE_UNAVAILABLE");
    expect(error.message).toContain("aborted a call");
    expect(await engine.list(labels)).toEqual([]);
  });

  it("that cuts its answers off is not mistaken for an empty list", async () => {
    const engine = apple();
    await idle(engine);
    cli.fail({ kind: "truncated", commands: ["list"] });
    await failureOf(engine.list(labels), "ENGINE_UNAVAILABLE");
  });

  it("that is an older version is refused by its version", async () => {
    await cli.become("0.12.3");
    const error = await failureOf(apple().capabilities(), "ENGINE_UNAVAILABLE");
    expect(error.message).toContain("0.12.3 is too old");
  });
});

describe("a dead network of Apple's service", () => {
  function healing(rule: RestartRule): Engine {
    const logger = { info: () => undefined, warn: () => undefined };
    return healingEngine(apple(), { rule, folder: join(folder, String(++folders)), now: Date.now, logger });
  }

  /** A run whose program reaches nothing until the service has been restarted. */
  async function failing(since: number): Promise<string> {
    const calls = (await cli.calls()).slice(since);
    return calls.some(({ words }) => words.join(" ").startsWith("system start")) ? "done" : "connect ETIMEDOUT 1.2.3.4";
  }

  async function runTwenty(engine: Engine): Promise<{ readonly results: readonly string[]; readonly told: string[] }> {
    cli.fail({ kind: "network-dead" });
    const since = (await cli.calls()).length;
    const troubleOf = (text: string): { text: string } | null => (text === "done" ? null : { text });
    const run = (): Promise<string> => failing(since);
    const runs = Array.from({ length: 20 }, () => runMended({ engine, now: Date.now, run, troubleOf }));
    const results = await Promise.all(runs);
    const told = (await cli.calls()).slice(since).map(({ words }) => words.slice(0, 2).join(" "));
    return { results, told: told.filter((words) => /^system st(?:art|op)$/.test(words)) };
  }

  it("is repaired by one restart, after which twenty failed runs are retried", async () => {
    const { results, told } = await runTwenty(healing("idle"));
    expect(results).toEqual(results.map(() => "done"));
    expect(told).toEqual(["system stop", "system start"]);
  });

  it("is left alone while another sandbox is live, unless the configuration allows losing that", async () => {
    const container = await idle(apple());
    const running = new RunningProcess(await container.exec({ command: ["sh", "-c", "echo up; sleep 1000000"] }));
    await running.until("stdout", "up\n");
    expect((await runTwenty(healing("idle"))).told).toEqual([]);
    const { results, told } = await runTwenty(healing("always"));
    expect(results).toEqual(results.map(() => "done"));
    expect(told).toEqual(["system stop", "system start"]);
    await failureOf(running.process.exit, "SANDBOX_LOST");
  });
});
