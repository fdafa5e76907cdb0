import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { PeerFolder } from "../../../src/peers/peer-folder.ts";
import { PeerServer } from "../../../src/peers/peer-server.ts";
import { uniqueSeconds } from "../../helpers/processes.ts";
import {
  attackFrom,
  attackFromContainer,
  readDriver,
  type AttackParameters,
  type AttackRun,
  type Verdicts,
} from "./run-attacks.ts";
import type { Control } from "./attack.ts";

/** Things of this machine that attacks are after, and the places without our policy where they get them. */
export interface HostScene extends Disposable {
  readonly parameters: AttackParameters;
  readonly controls: Readonly<Partial<Record<Control, (attacks: readonly AttackRun[]) => Promise<Verdicts>>>>;
}

/** Options of `docker run` that take nothing from a program; no capability that the test machine itself lacks. */
export const everyRight: readonly string[] = [
  ...["--cap-add", "ALL", "--cap-drop", "SYS_RESOURCE"],
  ...["--security-opt", "seccomp=unconfined", "--security-opt", "systempaths=unconfined"],
  ...["--device-cgroup-rule", "a *:* rwm", "--ulimit", "nofile=16384:16384"],
];
const namespacesOfTheHost = ["--network", "host", "--ipc", "host", "--uts", "host"];

/** Options of `docker run` under which nothing of our policy holds. */
export const unsealed: readonly string[] = ["--pid", "host", ...namespacesOfTheHost, ...everyRight];

const foldersOfTheHost = ["/sys", "/dev/kmsg", "/var/run/docker.sock"];

export async function openHostScene(): Promise<HostScene> {
  const secret = `secret-${uniqueSeconds()}`;
  process.env["ATTACK_SECRET"] = secret;
  const folder = mkdtempSync(path.join(tmpdir(), "glovebox-attacks-"));
  const hostFile = path.join(folder, "private.txt");
  writeFileSync(hostFile, secret);
  const processMark = uniqueSeconds();
  const sleeper = spawn("sleep", [processMark], { stdio: "ignore" });
  const abstractName = `glovebox-${processMark}`;
  const listener = createServer((connection) => void connection.end("welcome")).listen(`\0${abstractName}`);
  const peers = openPeers(path.join(folder, "peers"));
  const [peerSocket] = await Promise.all([peers.open(), once(sleeper, "spawn"), once(listener, "listening")]);
  const memory = shareMemory();
  const openFolder = openSync(folder, "r");
  const parameters = {
    ...{ secret, hostFile, processMark, abstractName, peerSocket },
    processNumber: sleeper.pid ?? 0,
    hostFolder: path.basename(folder),
    hostName: hostname(),
    bootNumber: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
    memoryKey: memory.key,
  };
  const given = [...foldersOfTheHost.filter(existsSync), folder].flatMap((path) => ["--volume", `${path}:${path}`]);
  const inContainer =
    (...options: readonly string[]) =>
    (attacks: readonly AttackRun[]): Promise<Verdicts> =>
      attackFromContainer(options, attacks, parameters);
  return {
    parameters,
    controls: {
      unsealed: inContainer(...unsealed, ...given),
      unsealedAlone: inContainer(...everyRight),
      ordinaryUser: inContainer("--user", "1000:1000"),
      hostProcess: (attacks) => attackFrom("python3", ["-c", readDriver()], attacks, parameters, [openFolder]),
    },
    [Symbol.dispose]: () => {
      closeSync(openFolder);
      sleeper.kill();
      listener.close();
      void peers.close();
      memory[Symbol.dispose]();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The way into the sandboxes of a process of Glovebox's. */
function openPeers(folder: string): PeerServer {
  const own = { owner: "own-1", uid: process.getuid?.() ?? null, platform: process.platform };
  const quiet = (): void => undefined;
  return new PeerServer({
    folder: new PeerFolder({ folder, ...own, leases: { stateOf: () => Promise.resolve("living") } }),
    platform: process.platform,
    call: () => Promise.reject(new Error("Nothing is done here.")),
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
}

/** A segment of System V shared memory, as programs of the host share it. */
function shareMemory(): Disposable & { readonly key: number } {
  const [id = ""] = /\d+/.exec(execFileSync("ipcmk", ["--shmem", "4096"], { encoding: "utf8" })) ?? [];
  const row = readFileSync("/proc/sysvipc/shm", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .find(([, number]) => number === id);
  return { key: Number(row?.[0]), [Symbol.dispose]: () => void execFileSync("ipcrm", ["--shmem-id", id]) };
}
