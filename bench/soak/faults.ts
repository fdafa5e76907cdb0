import { randomInt } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { askEngine, containersOn } from "./engine-api.ts";
import type { Scene, SoakServer } from "./scene.ts";
import { clusterParts, type SoakCluster } from "./soak-cluster.ts";

/** Something that goes wrong, and is repaired when the promise resolves. */
export interface Fault {
  readonly name: string;
  readonly make: () => Promise<void>;
}

const shortMs = 2_000;
const jumps = ["+6h", "-6h", "+0"] as const;
/** A cluster's certificates are not valid before they were made. */
const jumpsWithCertificates = ["+6h", "+0"] as const;

/** Every fault that can be caused in this scene. */
export function faultsOf(scene: Scene): readonly Fault[] {
  const { ownEngines, redis, postgres, storeFolder, clockFile, servers, engines, cluster } = scene;
  const faults: Fault[] = [];
  for (const [kind, engine] of ownEngines) {
    faults.push(
      { name: `a container killed on ${kind}`, make: () => killContainer(engine.socketPath) },
      {
        name: `${kind} killed and restarted`,
        make: async () => {
          await engine.kill();
          await sleep(randomInt(shortMs));
          // Docker 20.10 sometimes hangs at its start.
          await engine.restart().catch(async () => {
            await engine.kill();
            await engine.restart();
          });
        },
      },
    );
  }
  if (engines.includes("local")) {
    faults.push({
      name: "a program killed on local",
      make: async () => killChild(servers[randomInt(servers.length)]?.served.child.pid ?? 0),
    });
  }
  for (const [name, server] of [
    ["Redis", redis],
    ["PostgreSQL", postgres],
  ] as const) {
    if (server === null) continue;
    faults.push({
      name: `${name} killed and restarted`,
      make: async () => {
        await server.down();
        await sleep(randomInt(shortMs * 2));
        await server.up();
      },
    });
  }
  if (storeFolder !== null) faults.push({ name: "the store's disk full", make: () => fillDisk(storeFolder) });
  if (clockFile !== null) {
    const possible = cluster === null ? jumps : jumpsWithCertificates;
    faults.push({
      name: "the wall clock set",
      make: async () => writeFileSync(clockFile, `${possible[randomInt(possible.length)]}\n`),
    });
  }
  return cluster === null ? faults : [...faults, ...clusterFaults(cluster, servers)];
}

function clusterFaults(cluster: SoakCluster, servers: readonly SoakServer[]): readonly Fault[] {
  // The first one stays, to show what it uses at the end.
  const killed = servers.at(-1);
  return [
    { name: "a pod deleted on kubernetes", make: () => cluster.deletePod() },
    ...clusterParts.map(({ part, title }) => ({
      name: `${title} killed and restarted`,
      make: () => cluster.restart(part),
    })),
    ...(killed === undefined
      ? []
      : [{ name: `${killed.name} killed and started again`, make: () => killServer(killed, cluster) }]),
  ];
}

async function killServer(server: SoakServer, cluster: SoakCluster): Promise<void> {
  const { body } = await server.served.call("GET", "/api/sandbox?state=live");
  const { sandboxes = [] } = body as { readonly sandboxes?: readonly { readonly id: string }[] };
  const pods = await cluster.idsOf(sandboxes.map(({ id }) => `glovebox-${id}`));
  await server.kill();
  cluster.expectProgramsToEnd(`${server.name} was killed`, pods);
  await sleep(randomInt(shortMs));
  await server.startAgain();
}

async function killContainer(socketPath: string): Promise<void> {
  const running = await containersOn(socketPath, false);
  const chosen = running[randomInt(running.length + 1)];
  // It may have ended meanwhile; and sometimes none is chosen.
  if (chosen !== undefined) await askEngine(socketPath, "POST", `/containers/${chosen.Id}/kill`).catch(() => null);
}

/** Kills one of the process's children that confine programs. */
function killChild(parent: number): void {
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === parent);
  const chosen = children[randomInt(children.length + 1)];
  if (chosen === undefined) return;
  try {
    if (readFileSync(`/proc/${chosen}/comm`, "utf8").trim() === "bwrap") process.kill(Number(chosen), "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

function parentOf(id: string): number | null {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return null;
  }
}

async function fillDisk(folder: string): Promise<void> {
  const file = join(folder, "ballast");
  const { bavail, bsize } = statfsSync(folder);
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize));
  } catch {
    // It was full even sooner.
  }
  await sleep(shortMs * 2);
  rmSync(file, { force: true });
}
