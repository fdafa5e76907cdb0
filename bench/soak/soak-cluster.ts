import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { randomInt } from "node:crypto";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createId } from "../../src/base/id.ts";
import { channelTimes } from "../../src/engines/supervised/channel/channel.ts";
import { KubernetesApi } from "../../src/engines/kubernetes/kubernetes-api.ts";
import { findCluster } from "../../src/engines/kubernetes/kubernetes-engine.ts";
import { managedBy } from "../../src/engines/kubernetes/pod.ts";
import { readSettings } from "../../src/engines/kubernetes/cluster-settings.ts";
import { supervisorFolder } from "../../src/engines/supervised/supervisor-binary.ts";
import { projectFolder } from "../../test/helpers/project-folder.ts";
import { until } from "../../test/helpers/until.ts";

const run = promisify(execFile);

/** Parts of the cluster that are killed and restarted. */
export const clusterParts = [
  { part: "kube-apiserver", title: "the API server" },
  { part: "containerd", title: "containerd" },
  { part: "kubelet", title: "the kubelet" },
] as const;

interface ListedObject {
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** Programs of a sandbox may run so long without its server (SPEC SO8), and a little longer on a busy machine. */
const programsMs = channelTimes.silenceMs + 5_000;
/** The kernel counts the starts of processes so many times in a second. */
const ticksPerSecond = 100;

/** The test bed's cluster, with a namespace of the soak's own; nobody else may use the cluster meanwhile. */
export class SoakCluster implements AsyncDisposable {
  /** Of the servers. */
  readonly variables: Readonly<Record<string, string>>;
  readonly #namespace: string;
  readonly #state: string;
  readonly #api: KubernetesApi;
  readonly #checks: Promise<string | null>[] = [];

  private constructor(namespace: string, kubeconfig: string) {
    this.variables = { KUBECONFIG: kubeconfig, GLOVEBOX_KUBERNETES_NAMESPACE: namespace };
    this.#namespace = namespace;
    this.#state = dirname(kubeconfig);
    const settings = readSettings(this.variables, process.arch);
    const environment = this.variables;
    this.#api = new KubernetesApi({
      environment,
      now: Date.now,
      findCluster: () => findCluster(settings, environment),
    });
  }

  /** @throws Error when there is none that may be damaged */
  static async open(): Promise<SoakCluster> {
    const kubeconfig = process.env["GLOVEBOX_TEST_KUBECONFIG"] ?? "";
    if (!existsSync(join(dirname(kubeconfig), "run/kubelet.pid")))
      throw new Error("GLOVEBOX_TEST_KUBECONFIG names no cluster of the test bed (test/testbed/up.sh kubernetes)");
    const cluster = new SoakCluster(createId("soak"), kubeconfig);
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: cluster.#namespace } };
    const path = "/api/v1/namespaces";
    await cluster.#api.call("make a namespace", { method: "POST", path, body });
    const account = `${path}/${cluster.#namespace}/serviceaccounts/default`;
    await until(async () => (await cluster.#api.call("look", { method: "GET", path: account }, [404])).status === 200);
    return cluster;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const path = `/api/v1/namespaces/${this.#namespace}`;
    await this.#api.call("remove a namespace", { method: "DELETE", path }, [404]);
    this.#api.close();
  }

  /** Deletes a random pod as somebody else would; sometimes none. */
  async deletePod(): Promise<void> {
    const pods = await this.#list("pods");
    const chosen = pods[randomInt(pods.length + 1)];
    if (chosen === undefined) return;
    const body = { gracePeriodSeconds: randomInt(2) };
    const path = await this.#api.path("pods", chosen.metadata.name);
    await this.#api.call("delete a pod", { method: "DELETE", path, body }, [404]);
  }

  /** Kills a part with -9, and starts it again. Each of them holds every stream to a sandbox. */
  async restart(part: (typeof clusterParts)[number]["part"]): Promise<void> {
    const id = Number(readFileSync(join(this.#state, `run/${part}.pid`), "utf8"));
    const binaries = dirname(readlinkSync(`/proc/${id}/exe`));
    process.kill(id, "SIGKILL");
    this.expectProgramsToEnd(`${part} was killed`);
    // The script leaves alone what is not gone yet.
    await until(() => !existsSync(`/proc/${id}`));
    await sleep(randomInt(2_000));
    const hasPolicy = existsSync(join(this.#state, "run/policy.pid"));
    const script = join(projectFolder, "test/testbed/kubernetes/up.sh");
    await run(script, [this.#state, binaries], { env: { ...process.env, K8S_POLICY: hasPolicy ? "1" : "" } });
  }

  /** Ids of the pods of these names that there are. */
  async idsOf(names: readonly string[]): Promise<ReadonlySet<string>> {
    const pods = (await this.#list("pods")).filter(({ metadata: { name } }) => names.includes(name));
    return new Set(pods.map(({ metadata: { uid } }) => uid));
  }

  /** Watches the programs that run now in the pods of these ids (default: all); `problems` tells of those that run on. */
  expectProgramsToEnd(after: string, pods?: ReadonlySet<string>): void {
    const check = untilProgramsEnded(pods);
    this.#checks.push(check.then((tookMs) => (tookMs === null ? `A program ran on after ${after}.` : null)));
  }

  /** What was expected and did not come, once all of it is known. */
  async problems(): Promise<readonly string[]> {
    return (await Promise.all(this.#checks)).filter((problem) => problem !== null);
  }

  /** What is there beside the supervisor's object and the policy, which stay (SPEC CL1). */
  async left(): Promise<readonly string[]> {
    const lists = await Promise.all(
      ["pods", "configmaps", "networkpolicies"].map(async (kind) =>
        (await this.#list(kind)).map(({ metadata: { name } }) => `${kind} ${name}`),
      ),
    );
    return lists.flat().filter((each) => !lasting.test(each));
  }

  async #list(kind: string): Promise<readonly ListedObject[]> {
    const [[name, value] = []] = Object.entries(managedBy);
    const query = { labelSelector: `${name}=${value}` };
    const path = await this.#api.path(kind);
    const { body } = await this.#api.call(`list ${kind}`, { method: "GET", path, query });
    return (body["items"] ?? []) as readonly ListedObject[];
  }
}

const lasting = /^configmaps glovebox-supervisor-(?:x64|arm64)-[0-9a-f]{32}$|^networkpolicies glovebox-sandboxes$/;

/**
 * Waits until no program that runs now in the pods of these ids (default: all) runs any more; supervisors may, as servers may still
 * come to them. How long that took, in milliseconds; null when it took longer than a sandbox may outlive its server.
 */
export async function untilProgramsEnded(pods?: ReadonlySet<string>): Promise<number | null> {
  const begunMs = performance.now();
  const ticks = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * ticksPerSecond;
  for (let tookMs = 0; tookMs < programsMs; tookMs = performance.now() - begunMs) {
    if (!programsBegunBefore(ticks).some((pod) => pods?.has(pod) ?? true)) return tookMs;
    await sleep(500);
  }
  return null;
}

/** Ids of the pods of this machine's programs that were begun before this time; one for each of them. */
function programsBegunBefore(ticks: number): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => {
      try {
        const [, pod] = /:\/kubepods[^\n]*\/pod([0-9a-f-]{36})/.exec(readFileSync(`/proc/${id}/cgroup`, "utf8")) ?? [];
        if (pod === undefined) return [];
        const [program = ""] = readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0");
        if (program === "/pause" || program.startsWith(supervisorFolder)) return [];
        const stat = readFileSync(`/proc/${id}/stat`, "utf8");
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        // A zombie runs nothing.
        return fields[0] !== "Z" && Number(fields[19]) < ticks ? [pod] : [];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}
