import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEmbeddedCaller } from "../../src/library/embedded-caller.ts";
import { getMetricsContract, listAlertsContract } from "../../src/operations/metrics-contract.ts";
import {
  executeCodeContract,
  type ExecuteRequest,
  type ExecuteResponse,
} from "../../src/operations/execute-contract.ts";
import { parseRequest } from "../../src/operations/contract/parse-request.ts";
import type { Alert } from "../../src/platform/platform.ts";
import { openNetworkScene } from "../helpers/network-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { testImages } from "../helpers/test-images.ts";

type Embedded = Awaited<ReturnType<typeof openEmbeddedCaller>>;
const principal = "local";
const scene = await openNetworkScene();
afterAll(() => scene[Symbol.dispose]());

const fixture = (name: string): string =>
  readFileSync(path.join(projectFolder, "test/fixtures/programs", name), "utf8");
/** Uses little of the machine's CPU time, but all of its own share. */
const busy = (seconds: string) => ({ code: fixture("burns-cpu.py"), args: ["1", seconds], limits: { cpus: 0.1 } });
const full = { code: "b = b'x' * (236 * 1024 * 1024)\nimport time; time.sleep(2.5)", limits: { memory_mb: 256 } };
const greedy = { code: "b = b'x' * (512 * 1024 * 1024)", limits: { memory_mb: 64 } };

/** A CPU alert takes ten seconds; the tests wait for it only once. */
const cases = [
  { engine: "local", seconds: "14" },
  { engine: "docker", seconds: "4" },
  { engine: "podman", seconds: "4" },
] as const;

describe.each(cases)("metrics and alerts on $engine", ({ engine, seconds }) => {
  useGlovebox(engine);
  const told: Alert[] = [];
  let embedded: Embedded;
  beforeAll(async () => {
    const settings = { ...scene.settings, images: testImages };
    embedded = await openEmbeddedCaller({ engine, settings, onAlert: (alert) => told.push(alert) });
  });
  afterAll(() => embedded.close());
  const run = (request: Pick<ExecuteRequest, "code"> & Partial<ExecuteRequest>): Promise<ExecuteResponse> =>
    embedded.call(
      executeCodeContract,
      parseRequest(executeCodeContract, { language: "python", timeout_seconds: 60, ...request }),
      { principal },
    );

  it.concurrent("a busy sandbox has samples, each second, and an alert in its result", async () => {
    const { sandbox_id: id, alerts = [], outcome } = await run(busy(seconds));
    expect(outcome).toBe("completed");
    const metrics = await embedded.call(getMetricsContract, { sandbox_id: id, samples: 600 }, { principal });
    expect(metrics).toMatchObject({ container_id: id, engine, kind: "execute", limits: { cpus: 0.1, memory_mb: 512 } });
    const shares = metrics.samples.flatMap(({ cpu_percent: share }) => share ?? []);
    expect(shares.length).toBeGreaterThan(0);
    expect(Math.max(...shares), "of one CPU").toBeGreaterThan(5);
    const stamps = metrics.samples.map(({ timestamp }) => Date.parse(timestamp));
    expect(stamps.every((stamp, index) => index === 0 || stamp - (stamps[index - 1] ?? 0) > 500)).toBe(true);
    expect(metrics.samples.at(-1)).toMatchObject({ container_id: id, network_rx_bytes: 0, network_tx_bytes: 0 });
    expect(metrics.samples.at(-1)?.memory_mb).toBeGreaterThan(0);
    const ofCpu = (list: readonly Alert[], state: Alert["state"]): readonly Alert[] =>
      list.filter((alert) => alert.container_id === id && alert.kind === "cpu" && alert.state === state);
    const expected = Number(seconds) < 10 ? 0 : 1;
    expect(ofCpu(alerts, "start")).toHaveLength(expected);
    expect(ofCpu(told, "end")).toHaveLength(expected);
  });

  it.concurrent("one whose memory is nearly full, or too little, says so", async () => {
    const [filled, killed] = await Promise.all([run(full), run(greedy)]);
    expect(filled).toMatchObject({ outcome: "completed" });
    expect(filled.alerts).toContainEqual(expect.objectContaining({ kind: "memory", state: "start", threshold: 90 }));
    expect(killed).toMatchObject({ outcome: "oom_killed" });
    expect(killed.alerts).toContainEqual(
      expect.objectContaining({ kind: "oom", state: "start", suggestion: expect.stringContaining("memory_mb") }),
    );
    const request = { sandbox_id: killed.sandbox_id, kind: "oom" } as const;
    const { alerts } = await embedded.call(listAlertsContract, request, { principal });
    expect(alerts.map(({ state }) => state)).toEqual(["start", "end"]);
  });

  it.concurrent("bytes of the network are those that passed the proxy", async () => {
    const code =
      "import sys, time, urllib.request\nfor _ in range(10): urllib.request.urlopen(sys.argv[1], data=b'x' * 10000).read()\ntime.sleep(2.2)";
    const url = `http://${scene.webAt}/echo`;
    const { sandbox_id: id, outcome, stderr } = await run({ code, args: [url], network: [scene.webAt] });
    expect({ outcome, stderr }).toEqual({ outcome: "completed", stderr: "" });
    const { samples } = await embedded.call(getMetricsContract, { sandbox_id: id }, { principal });
    const { network_rx_bytes: received, network_tx_bytes: sent } = samples.at(-1) ?? {};
    expect(sent).toBeGreaterThan(100_000);
    expect(sent).toBeLessThan(200_000);
    expect(received).toBeGreaterThan(0);
  });

  it.concurrent("belong to one principal only", async () => {
    const { sandbox_id: id } = await run({ code: greedy.code, limits: greedy.limits });
    const other = { principal: "somebody-else" };
    await expect(embedded.call(getMetricsContract, { sandbox_id: id }, other)).rejects.toMatchObject({
      errorType: "NOT_FOUND",
    });
    expect(await embedded.call(listAlertsContract, { sandbox_id: id }, other)).toEqual({ alerts: [] });
  });
});
