import { execFile, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { createId } from "../../base/id.ts";
import type { AttackParameters } from "./attack-programs.ts";

/** Where the scene is laid. */
export interface SceneHost {
  readonly platform: NodeJS.Platform;
  readonly hostName: string;
  readonly temporaryDirectory: string;
  /** Addresses of this machine, without those of one link. */
  readonly addresses: { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] };
  /** Folder of the sockets by which Glovebox's own processes reach each other. */
  readonly peerFolder: string;
  /** Puts a value into this process's own environment until it is disposed of. */
  readonly plantVariable: (value: string) => Disposable;
}

/** Things of this machine that attacks are after, each made for them; parameters that it cannot provide are missing. */
export interface HostScene extends AsyncDisposable {
  readonly parameters: AttackParameters;
}

/** Creates what the attacks look for: a file, a process, servers, a variable. None of it is real. */
export async function openHostScene(host: SceneHost): Promise<HostScene> {
  const closers: Closers = [];
  try {
    return { parameters: await openParts(host, closers), [Symbol.asyncDispose]: () => closeAll(closers) };
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

/** What ends the parts that are open. */
type Closers = (() => unknown)[];

async function closeAll(closers: Closers): Promise<void> {
  // The last one that was opened first; one that fails leaves none of the others behind.
  const close = closers.pop();
  if (close === undefined) return;
  try {
    await close();
  } finally {
    await closeAll(closers);
  }
}

async function openParts(host: SceneHost, closers: Closers): Promise<AttackParameters> {
  const secret = createId("secret");
  const planted = host.plantVariable(secret);
  closers.push(() => planted[Symbol.dispose]());
  const folder = await mkdtemp(path.join(host.temporaryDirectory, "glovebox-proof-"));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const hostFile = path.join(folder, "private.txt");
  await writeFile(hostFile, secret, { mode: 0o644 });
  const handle = await open(folder, "r");
  closers.push(() => handle.close());
  const service = await serve({ host: "::" }, closers).catch(() => serve({ host: "0.0.0.0" }, closers));
  const datagramPort = await answerDatagrams(closers);
  return {
    ...{ secret, hostFile, datagramPort, hostName: host.hostName, hostFolder: path.basename(folder) },
    servicePort: (service.address() as AddressInfo).port,
    resolverPort: datagramPort,
    hostAddresses: host.addresses.ipv4,
    hostAddresses6: host.addresses.ipv6,
    ...(host.platform === "win32" ? {} : await startSleeper(closers)),
    ...(host.platform === "linux" ? await linuxThings(closers) : {}),
    ...(await peerSocket(host.peerFolder)),
  };
}

async function serve(where: { readonly host: string } | { readonly path: string }, closers: Closers): Promise<Server> {
  const server = createServer((connection) => void connection.on("error", () => connection.destroy()).end("welcome"));
  server.listen("path" in where ? where : { ...where, port: 0 });
  await once(server, "listening");
  closers.push(() => void server.close());
  return server;
}

async function answerDatagrams(closers: Closers): Promise<number> {
  const socket = createSocket("udp4");
  socket.on("message", (_, from) => socket.send("welcome", from.port, from.address));
  socket.on("error", () => undefined);
  socket.bind(0);
  await once(socket, "listening");
  closers.push(() => void socket.close());
  return socket.address().port;
}

/** A process with an argument that no other process has. */
async function startSleeper(closers: Closers): Promise<AttackParameters> {
  const digits = Array.from(createId(""), (letter) => letter.charCodeAt(0) % 10).join("");
  // Hours.
  const processMark = `9${digits.slice(0, 4)}.${digits.slice(4, 14)}`;
  const sleeper = spawn("sleep", [processMark], { stdio: "ignore" });
  await once(sleeper, "spawn");
  closers.push(() => void sleeper.kill());
  return { processMark, processNumber: sleeper.pid ?? 0 };
}

async function linuxThings(closers: Closers): Promise<AttackParameters> {
  const abstractName = createId("glovebox-proof");
  await serve({ path: `\0${abstractName}` }, closers);
  const bootNumber = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  return { abstractName, bootNumber, ...(await shareMemory(closers)) };
}

/** A segment of System V shared memory, as programs of the host share it; nothing where its tools are missing. */
async function shareMemory(closers: Closers): Promise<AttackParameters> {
  const run = promisify(execFile);
  try {
    const { stdout } = await run("ipcmk", ["--shmem", "4096"]);
    const [id = ""] = /\d+/.exec(stdout) ?? [];
    closers.push(async () => void (await run("ipcrm", ["--shmem-id", id])));
    const rows = (await readFile("/proc/sysvipc/shm", "utf8")).split("\n").map((line) => line.trim().split(/\s+/));
    const key = Number(rows.find(([, number]) => number === id)?.[0]);
    return Number.isInteger(key) ? { memoryKey: key } : {};
  } catch {
    return {};
  }
}

/** Of a process of this user's that has sandboxes: this one, which has just run one. */
async function peerSocket(folder: string): Promise<AttackParameters> {
  const names = await readdir(folder).catch(() => []);
  const name = names.find((each) => !each.startsWith("."));
  return name === undefined ? {} : { peerSocket: path.join(folder, name) };
}
