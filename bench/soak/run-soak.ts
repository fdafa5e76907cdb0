import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { processesWith } from "../../test/helpers/processes.ts";
import { firstLine } from "../parts/in-turn.ts";
import type { BenchPlan } from "../parts/report.ts";
import { containersOn, describeContainer, leftOn } from "./engine-api.ts";
import { faultsOf } from "./faults.ts";
import { Ledger } from "./ledger.ts";
import { openScene, resourcesOf, type Scene, type SoakServer } from "./scene.ts";
import { growthOf, type AfterKill, type Resources, type SoakReport } from "./soak-report.ts";
import { untilProgramsEnded } from "./soak-cluster.ts";
import { unendedRuns } from "./stored-runs.ts";
import { runUntilKilled, workUntil } from "./work.ts";

const clients = 6;
/** Share of the whole time that the warm-up round takes; in a short soak half of it, up to so long: servers grow for minutes. */
const warmUpShare = 0.25;
const warmUpMs = 180_000;
const faultEveryMs = 6_000;
/** By then servers have released what ended, and unused connections. */
const restMs = 12_000;
const sweepMs = 90_000;
/** How long servers work before all of them are killed. */
const busyMs = 10_000;
/** By then nothing is left of servers that were killed, counted from when they are started again. */
const objectsMs = 60_000;

type Found = Omit<SoakReport, "minutes" | "date" | "machine" | "versions">;

/** Works for that long, including a warm-up round, and checks what is left. */
export async function runSoak(plan: BenchPlan, forMs: number): Promise<Found> {
  plan.say("starting engines, databases and servers");
  const scene = await openScene(plan);
  const ledger = new Ledger();
  let isOpen = true;
  try {
    const { servers } = scene;
    plan.say("warm-up round");
    const faults: Record<string, number> = {};
    const faulty = (stop: AbortSignal): Promise<void> => disturb(stop, scene, faults, ledger, plan);
    const firstMs = Math.max(forMs * warmUpShare, Math.min(forMs / 2, warmUpMs));
    await work(scene, ledger, firstMs, faulty);
    const before = servers.map((server) => resourcesOf(server));
    plan.say(`after it: ${JSON.stringify(before)}`);
    await work(scene, ledger, forMs - firstMs, faulty);
    const after = servers.map((server) => resourcesOf(server));
    const none: Resources = { residentMb: 0, descriptors: 0 };
    // What was started again uses what it uses.
    const resources = servers.flatMap(({ name, kills }, index) =>
      kills > 0 ? [] : [{ server: name, before: before[index] ?? none, after: after[index] ?? none }],
    );
    for (const server of servers.filter(({ hasEnded }) => hasEnded))
      plan.say(`${server.name} has ended:\n${server.lastWords}`);
    plan.say("looking at what is left");
    const still = [...(await stoppedAfterSweep(scene)), ...(await stillListed(scene))];
    const { afterKill, problems: kept } = await killAll(scene, ledger, plan);
    let unended = await unendedRuns(scene);
    // Servers that were started again look for runs of others when they have their store, and then each minute.
    for (let tries = 0; unended.length > 0 && scene.cluster !== null && tries < objectsMs / 1_000; tries += 1) {
      await sleep(1_000);
      unended = await unendedRuns(scene);
    }
    const ends = await endServers(scene, plan);
    const left = await leftBehind(scene);
    isOpen = false;
    const problems = [
      ...new Set(ledger.problems),
      ...ledger.open.map((kind) => `A request (${kind}) has not ended.`),
      ...[...still, ...kept, ...unended, ...ends, ...left],
      ...resources.flatMap((each) => growthOf(each)),
    ];
    const { ends: counted, slow } = ledger;
    const { leftOut } = scene;
    const found = { ends: counted, slow, faults, leftOut, resources, problems };
    return afterKill === null ? found : { ...found, afterKill };
  } finally {
    if (isOpen) plan.say("ended early");
    await scene[Symbol.asyncDispose]();
  }
}

/** Keeps clients working for this long, together with what goes on beside them, and then rests. */
async function work(
  scene: Scene,
  ledger: Ledger,
  forMs: number,
  beside: (stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = AbortSignal.timeout(forMs);
  await Promise.all([...Array.from({ length: clients }, () => workUntil(stop, scene, ledger)), beside(stop)]);
  await sleep(restMs);
}

/** Causes one random fault after the other; each is over before the next begins. */
async function disturb(
  stop: AbortSignal,
  scene: Scene,
  made: Record<string, number>,
  ledger: Ledger,
  { say }: BenchPlan,
): Promise<void> {
  const faults = faultsOf(scene);
  let waiting: typeof faults = [];
  while (!stop.aborted && faults.length > 0) {
    await sleep(randomInt(faultEveryMs));
    // Every fault gets a turn before any is repeated.
    if (waiting.length === 0) waiting = faults;
    const fault = waiting[randomInt(waiting.length)];
    if (fault === undefined) continue;
    waiting = waiting.filter((each) => each !== fault);
    say(fault.name);
    made[fault.name] = (made[fault.name] ?? 0) + 1;
    await fault.make().catch((error: unknown) => ledger.note(`${fault.name}: ${firstLine(error)}`));
  }
}

/** Stopped containers of servers that are alive: every minute, a server looks for what it could not remove. */
async function stoppedAfterSweep({ ownEngines }: Scene): Promise<readonly string[]> {
  const stopped = async (): Promise<readonly string[]> => {
    const lists = await Promise.all(
      [...ownEngines].map(async ([kind, { socketPath }]) => {
        const running = new Set((await containersOn(socketPath, false)).map(({ Id: id }) => id));
        const all = await containersOn(socketPath, true);
        const ended = all.filter(({ Id: id }) => !running.has(id));
        return ended.map((container) => `Ended and not removed on ${kind}: ${describeContainer(container)}.`);
      }),
    );
    return lists.flat();
  };
  let left = await stopped();
  for (const until = performance.now() + sweepMs; left.length > 0 && performance.now() < until; await sleep(1_000)) {
    left = await stopped();
  }
  return left;
}

/** What the servers still list although no requests are running. */
async function stillListed({ servers }: Scene): Promise<readonly string[]> {
  const left: string[] = [];
  for (const { name, served } of servers.filter(({ hasEnded }) => !hasEnded)) {
    const { status, body } = await served.call("GET", "/api/sandbox?state=live");
    if (status !== 200) left.push(`${name} does not list its sandboxes: status ${status}.`);
    const { sandboxes = [] } = body as { readonly sandboxes?: readonly object[] };
    left.push(...sandboxes.map((row) => `${name} says that it has ${JSON.stringify(row)}.`));
  }
  return left;
}

/** What is left on the engines and of the servers after they have ended, including sandboxes that waited for runs. */
async function leftBehind({ ownEngines, servers, cluster }: Scene): Promise<readonly string[]> {
  const left = ((await cluster?.left()) ?? []).map((what) => `Left on kubernetes: ${what}.`);
  for (const [kind, { socketPath }] of ownEngines) {
    left.push(...(await leftOn(socketPath)).map((what) => `Left on ${kind}: ${what}.`));
  }
  for (const { name, served } of servers) {
    const programs = processesWith((argv) => argv[0] === "bwrap" && argv.some((each) => each.includes(served.home)));
    if (programs.length > 0) left.push(`${name} has left ${programs.length} programs on local.`);
  }
  return left;
}

/**
 * On a cluster: kills all servers with -9 in the middle of work, looks how long their programs run on, starts the servers again and
 * looks how long it takes until nothing is left of what the killed ones made.
 */
async function killAll(
  scene: Scene,
  ledger: Ledger,
  { say }: BenchPlan,
): Promise<{ readonly afterKill: AfterKill | null; readonly problems: readonly string[] }> {
  const { cluster, servers } = scene;
  if (cluster === null) return { afterKill: null, problems: [] };
  const stop = new AbortController();
  const working = [
    ...Array.from({ length: clients }, () => workUntil(stop.signal, scene, ledger)),
    ...servers.map((server) => runUntilKilled(server, "kubernetes", ledger)),
  ];
  await sleep(busyMs);
  say("killing all servers while they work");
  stop.abort();
  const ended = untilProgramsEnded();
  await Promise.all(servers.map((server) => server.kill()));
  const [programsMs] = await Promise.all([ended, ...working]);
  await Promise.all(servers.map((server) => server.startAgain()));
  const startedMs = performance.now();
  let left = await cluster.left();
  for (; left.length > 0 && performance.now() - startedMs < objectsMs; left = await cluster.left()) await sleep(500);
  const afterKill = { programsMs, objectsMs: left.length > 0 ? null : Math.round(performance.now() - startedMs) };
  const problems = [
    ...(await cluster.problems()),
    ...(programsMs === null ? ["Programs ran on after all servers were killed."] : []),
    ...left.map((what) => `Left on kubernetes a minute after the servers were started again: ${what}.`),
  ];
  return { afterKill, problems };
}

/** Ends the servers as an operator would. */
async function endServers({ servers }: Scene, { say }: BenchPlan): Promise<readonly string[]> {
  const ends = await Promise.all(
    servers.map(async (server) => {
      const { name, served } = server;
      if (server.hasEnded) return [`${name} had ended by itself: ${lastErrorOf(server)}`];
      served.child.kill("SIGTERM");
      const code = await served.ended;
      if (code === 0) return [];
      say(`${name} has ended with ${code}:\n${server.lastWords}`);
      return [`${name} ended with ${code}: ${lastErrorOf(server)}`];
    }),
  );
  return ends.flat();
}

/** The line that names an error, without details of this machine. */
function lastErrorOf({ lastWords }: SoakServer): string {
  const lines = lastWords.split("\n");
  return firstLine(lines.findLast((line) => /Error\b/.test(line)) ?? lines.at(-2) ?? "");
}
