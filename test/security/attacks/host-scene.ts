import { closeSync, existsSync, openSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { readHostAddresses, plantVariable } from "../../../src/config/host/host.ts";
import { openHostScene as openScene } from "../../../src/workloads/proof/host-scene.ts";
import { PeerFolder } from "../../../src/peers/peer-folder.ts";
import { PeerServer } from "../../../src/peers/peer-server.ts";
import {
  attackFrom,
  attackFromContainer,
  readDriver,
  type AttackParameters,
  type AttackRun,
  type Verdicts,
} from "./run-attacks.ts";
import type { Control } from "../../../src/workloads/proof/attack.ts";

/** Things on this machine that attacks are after, and the places without our policy where they succeed. */
export interface HostScene extends AsyncDisposable {
  readonly parameters: AttackParameters;
  readonly controls: Readonly<Partial<Record<Control, (attacks: readonly AttackRun[]) => Promise<Verdicts>>>>;
}

/** Options of `docker run` that restrict nothing; without capabilities that the test machine itself lacks. */
export const everyRight: readonly string[] = [
  ...["--cap-add", "ALL", "--cap-drop", "SYS_RESOURCE"],
  ...["--security-opt", "seccomp=unconfined", "--security-opt", "systempaths=unconfined"],
  ...["--device-cgroup-rule", "a *:* rwm", "--ulimit", "nofile=16384:16384"],
];
const namespacesOfTheHost = ["--network", "host", "--ipc", "host", "--uts", "host"];

/** Options of `docker run` with which none of our policy applies. */
export const unsealed: readonly string[] = ["--pid", "host", ...namespacesOfTheHost, ...everyRight];

const foldersOfTheHost = ["/sys", "/dev/kmsg", "/var/run/docker.sock"];

export async function openHostScene(): Promise<HostScene> {
  const scene = await openScene({
    platform: process.platform,
    hostName: hostname(),
    temporaryDirectory: tmpdir(),
    addresses: readHostAddresses(),
    peerFolder: "/nowhere",
    plantVariable: (value) => plantVariable("ATTACK_SECRET", value),
  });
  const folder = path.dirname(String(scene.parameters["hostFile"]));
  const peers = openPeers(path.join(folder, "peers"));
  const openFolder = openSync(folder, "r");
  const parameters = { ...scene.parameters, peerSocket: await peers.open() };
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
    [Symbol.asyncDispose]: async () => {
      closeSync(openFolder);
      await peers.close();
      await scene[Symbol.asyncDispose]();
    },
  };
}

/** The way into the sandboxes of a Glovebox process. */
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
