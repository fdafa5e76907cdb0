import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { createId } from "../../src/base/id.ts";
import { KubernetesApi } from "../../src/engines/kubernetes/kubernetes-api.ts";
import { findCluster } from "../../src/engines/kubernetes/kubernetes-engine.ts";
import { readSettings } from "../../src/engines/kubernetes/cluster-settings.ts";
import { createGlovebox, type Glovebox, type Session } from "../../src/index.ts";
import { until } from "../../test/helpers/until.ts";
import { bareCommand, codeOf, insideInterpreters } from "../parts/baselines.ts";
import { assertCompleted } from "../parts/doors.ts";
import { timeInTurn, type Subject } from "../parts/in-turn.ts";
import { burst } from "../parts/load.ts";
import type { BenchPlan, Measure, Row } from "../parts/report.ts";
import { median, quantile, ratio, rounded } from "../parts/statistics.ts";
import { warmths, warmthSettings } from "../parts/warmth.ts";
import { clusterRows } from "./row-names.ts";

const engines = ["kubernetes", "docker"] as const;
const burstSize = 20;
/** As in the measures of the other engines; a pod takes two seconds to go. */
const settleMs = { cold: 2_500, warm: 2_500 } as const;
const pauseMs = 500;

/** What a cluster costs, beside Docker on the same machine and beside an exec without Glovebox. */
export const kubernetesMeasure: Measure = {
  name: "kubernetes",
  title: "On a cluster",
  how: [
    "A program of one line through the library, one at a time, with all subjects in turn: in a pod, and in a container of Docker on the same machine.",
    "The exec by hand opens a WebSocket of its own to the API server and runs the same program in a pod that is there already, until the stream's end.",
    `Burst: ${burstSize} cold requests at the same time; the time is that of the median one and of the last one.`,
    "The cluster has one node, which is this machine.",
  ].join(" "),
  columns: [
    { key: "medianMs", title: "median ms", digits: 1 },
    { key: "p95Ms", title: "p95 ms", digits: 1 },
    { key: "overExec", title: "x exec by hand", digits: 2 },
    { key: "overDocker", title: "x docker", digits: 2 },
  ],
  plot: { kind: "bars", value: "medianMs", unit: "ms, median" },
  take: async (plan) => {
    const kubeconfig = process.env["GLOVEBOX_TEST_KUBECONFIG"];
    if (kubeconfig === undefined) {
      const reason = "no cluster is named (GLOVEBOX_TEST_KUBECONFIG)";
      return { rows: [], leftOut: [{ name: "kubernetes", reason }] };
    }
    await using stack = new AsyncDisposableStack();
    const cluster = await openNamespace(kubeconfig, stack);
    const exec: Subject = { name: clusterRows.exec, run: await execByHand(cluster, plan.images.python, stack) };
    const subjects: Subject[] = [exec];
    for (const warmth of warmths) {
      const settings = { ...warmthSettings[warmth], images: plan.images };
      const glovebox = stack.use(await createGlovebox({ settings }));
      subjects.push(...engines.map((engine) => runOn(engine, warmth, glovebox)));
      if (warmth === "cold") subjects.push(...engines.map((engine) => callIn(engine, glovebox)));
    }
    const { timesMs, leftOut } = await timeInTurn(subjects, plan.isQuick ? 3 : 15);
    const missing = [...leftOut];
    await using burstStack = new AsyncDisposableStack();
    const cold = burstStack.use(
      await createGlovebox({ settings: { ...warmthSettings.cold, images: plan.images, max_containers: burstSize } }),
    );
    const bursts = new Map<string, readonly number[]>();
    for (const engine of engines) {
      const { doneMs, failed } = await burst(() => execute(cold, engine), burstSize);
      if (failed > 0) missing.push({ name: clusterRows.burst(engine), reason: `${failed} failed` });
      else bursts.set(clusterRows.burst(engine), doneMs);
    }
    const byHand = await burst(() => podByHand(cluster, plan.images.python), burstSize);
    if (byHand.failed > 0) missing.push({ name: clusterRows.burstByHand, reason: `${byHand.failed} failed` });
    else bursts.set(clusterRows.burstByHand, byHand.doneMs);
    return { rows: rowsOf(new Map([...timesMs, ...bursts])), leftOut: missing };
  },
};

async function execute(glovebox: Glovebox, engine: string): Promise<void> {
  assertCompleted(await glovebox.execute({ language: "python", code: codeOf.python, engine, packages: [] }));
}

function runOn(engine: string, warmth: "cold" | "warm", glovebox: Glovebox): Subject {
  const name = clusterRows.run(engine, warmth);
  return { name, run: () => execute(glovebox, engine), settleMs: settleMs[warmth] };
}

function callIn(engine: string, glovebox: Glovebox): Subject {
  let session: Session | undefined;
  const call = async (): Promise<void> => {
    session ??= await glovebox.sessions.open({ engine });
    assertCompleted(await session.run({ language: "python", code: codeOf.python, packages: [] }));
  };
  return {
    name: clusterRows.call(engine),
    prepare: async () => {
      await call();
      await sleep(pauseMs);
    },
    run: call,
  };
}

function rowsOf(timesMs: ReadonlyMap<string, readonly number[]>): readonly Row[] {
  const medianOf = (name: string): number | undefined => {
    const times = timesMs.get(name);
    return times && median(times);
  };
  return [...timesMs].map(([name, times]) => ({
    name,
    isBaseline: !name.startsWith("kubernetes"),
    values: rounded({
      medianMs: median(times),
      p95Ms: quantile(times, 0.95),
      overExec: ratio(median(times), medianOf(clusterRows.exec)),
      overDocker: name.startsWith("kubernetes")
        ? ratio(median(times), medianOf(name.replace("kubernetes", "docker")))
        : null,
    }),
  }));
}

/** Has runs of this process go to a namespace of their own, which goes with the stack. */
async function openNamespace(kubeconfig: string, stack: AsyncDisposableStack): Promise<KubernetesApi> {
  const namespace = createId("bench");
  const variables = { KUBECONFIG: kubeconfig, GLOVEBOX_KUBERNETES_NAMESPACE: namespace };
  Object.assign(process.env, variables);
  const settings = readSettings(variables, process.arch);
  const api = new KubernetesApi({
    environment: variables,
    now: Date.now,
    findCluster: () => findCluster(settings, variables),
  });
  const path = "/api/v1/namespaces";
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  await api.call("make a namespace", { method: "POST", path, body });
  stack.defer(async () => {
    await api.call("remove a namespace", { method: "DELETE", path: `${path}/${namespace}` });
    api.close();
  });
  const account = { method: "GET", path: `${path}/${namespace}/serviceaccounts/default` } as const;
  await until(async () => (await api.call("look", account, [404])).status === 200);
  return api;
}

/** A pod of its own for the program, until the cluster says that it has ended; it goes with its namespace. */
async function podByHand(api: KubernetesApi, image: BenchPlan["images"]["python"]): Promise<void> {
  const name = createId("hand");
  const command = [...bareCommand("python", insideInterpreters)];
  const resources = { requests: { cpu: "50m", memory: "64Mi" } };
  const spec = { restartPolicy: "Never", containers: [{ name: "hand", image, command, resources }] };
  const body = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
  await api.call("make a pod", { method: "POST", path: await api.path("pods"), body });
  const path = await api.path("pods", name);
  await until(async () => {
    const { status } = (await api.call("look", { method: "GET", path })).body as { readonly status: object };
    const { phase } = status as { readonly phase?: string };
    if (phase === "Failed") throw new Error("a pod by hand failed");
    return phase === "Succeeded";
  });
}

/** The program in a running pod of the same image. */
async function execByHand(
  api: KubernetesApi,
  image: BenchPlan["images"]["python"],
  stack: AsyncDisposableStack,
): Promise<() => Promise<void>> {
  const name = createId("hand");
  const container = { name: "hand", image, imagePullPolicy: "IfNotPresent", command: ["sleep", "3600"] };
  const spec = { containers: [container], terminationGracePeriodSeconds: 1 };
  const body = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
  await api.call("make a pod", { method: "POST", path: await api.path("pods"), body });
  const path = await api.path("pods", name);
  stack.defer(async () => void (await api.call("remove a pod", { method: "DELETE", path })));
  const run = async (): Promise<void> => {
    const { access, tls, headers } = await api.connection();
    const url = new URL(`${path}/exec`, access.url);
    url.protocol = "wss:";
    const command = bareCommand("python", insideInterpreters);
    url.searchParams.set("stdout", "true");
    for (const word of command) url.searchParams.append("command", word);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = new WebSocket(url, "v5.channel.k8s.io", {
      ...{ ca: tls.ca, cert: tls.cert, key: tls.key, headers, perMessageDeflate: false },
    });
    let said = "";
    socket.on("message", (data: Buffer) => void (said += data[0] === 1 ? data.subarray(1).toString() : ""));
    socket.on("error", reject);
    socket.on("close", () => (said === "42\n" ? resolve() : reject(new Error(`exec by hand: ${said}`))));
    await promise;
  };
  await until(async () => {
    try {
      await run();
      return true;
    } catch {
      return false;
    }
  });
  return run;
}
