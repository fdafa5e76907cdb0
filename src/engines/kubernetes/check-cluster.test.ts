import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { KubernetesStandIn } from "../../../test/helpers/kubernetes-stand-in.ts";
import { guardEngine } from "../guarded-engine.ts";
import type { EngineFinding } from "../capabilities.ts";

const forbidsPrivileged = 'pods "x" is forbidden: violates PodSecurity "restricted:latest"';
const node = {
  status: {
    conditions: [{ type: "Ready", status: "True" }],
    nodeInfo: { kubeletVersion: "v1.35.4" },
    runtimeHandlers: [{ name: "", features: { userNamespaces: true } }],
  },
};
let folder: string;
let api: KubernetesStandIn;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "glovebox-check-"));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  api = await KubernetesStandIn.open();
  api.allows = (right) => !/secrets|nodes|delete networkpolicies|rolebindings/.test(right);
});
afterEach(() => api[Symbol.asyncDispose]());

/** Through the wrapper that every engine has. */
async function check(environment: Readonly<Record<string, string>> = {}): Promise<readonly EngineFinding[]> {
  const file = path.join(folder, "config");
  await writeFile(file, api.kubeconfig());
  await using engine = guardEngine(api.engine(file, environment));
  return (await engine.check?.()) ?? [];
}

/** Refuses the pod of a trial, which only what it holds tells from a privileged one. */
function refuseTrial(isPrivileged: boolean, status: number, message: string): void {
  api.trialRefusals.push({ isPrivileged, status, message });
}

const warnings = (findings: readonly EngineFinding[]): readonly string[] =>
  findings.filter(({ severity }) => severity === "warning").map(({ what, fix }) => `${what} ${fix}`);

describe("a check of a cluster", () => {
  beforeEach(() => refuseTrial(true, 403, forbidsPrivileged));

  it("finds nothing wrong with one that is set up, and makes nothing", async () => {
    const findings = await check();
    expect(warnings(findings)).toEqual([]);
    expect(findings).toMatchObject([{ severity: "note", what: expect.stringContaining("may not look at nodes") }]);
    expect([api.pods.size, api.configMaps.size, api.networkPolicies.size]).toEqual([0, 0, 0]);
    const trials = api.requests.filter(({ method, path: at }) => method === "POST" && at.endsWith("/pods"));
    expect(trials.map(({ query }) => query)).toEqual(["?dryRun=All", "?dryRun=All"]);
    expect(trials.map(({ body }) => body)).toContainEqual(
      expect.objectContaining({ metadata: expect.objectContaining({ labels: expect.any(Object) as object }) }),
    );
  });

  it("names each right that is missing, and each that is too much", async () => {
    api.allows = (right) => !["get pods/attach", "create networkpolicies"].includes(right);
    const findings = await check();
    expect(warnings(findings)).toEqual([
      expect.stringMatching(
        /lacks rights in the namespace boxes: get pods\/attach, create networkpolicies\. .*deploy\/kubernetes/,
      ),
    ]);
    const excess = findings.find(({ what }) => what.includes("more than Glovebox needs"));
    expect(excess?.what).toContain("get secrets, get nodes/proxy, delete networkpolicies, create rolebindings");
  });

  it.each([
    [
      "a quota",
      403,
      'pods "x" is forbidden: exceeded quota: small, requested: memory',
      /by its quota.*Raise the quota/,
    ],
    [
      "pod security",
      403,
      'pods "x" is forbidden: violates PodSecurity "privileged-only"',
      /refuses the sandbox: .*PodSec/,
    ],
    [
      "a range of limits",
      403,
      'pods "x" is forbidden: maximum memory usage per Container is 100Mi, but limit is 512Mi',
      /refuses the sandbox: .*maximum memory usage/,
    ],
    [
      "no namespace",
      404,
      'namespaces "boxes" not found',
      /namespaces "boxes" not found\. .*GLOVEBOX_KUBERNETES_NAMESPACE/,
    ],
    [
      "no right",
      403,
      'pods is forbidden: User "system:serviceaccount:boxes:box" cannot create resource "pods"',
      /does not allow Glovebox to create a pod.*docs\/kubernetes\.md/,
    ],
  ])("says with the cluster's words why it takes no sandbox: %s", async (_, status, message, words) => {
    refuseTrial(false, status, message);
    expect(warnings(await check())).toEqual([expect.stringMatching(words)]);
  });

  it("tells of a namespace that takes privileged pods", async () => {
    api.trialRefusals.length = 0;
    expect(warnings(await check())).toEqual([
      expect.stringMatching(/takes privileged pods\. .*kubectl label namespace boxes .*enforce=restricted/),
    ]);
  });

  it("says that the wall of the network shows in pods, unless the cluster's network is accepted", async () => {
    const wall = (findings: readonly EngineFinding[]): boolean => findings.some(({ fix }) => fix.includes("--prove"));
    expect(wall(await check({ GLOVEBOX_KUBERNETES_ACCEPT: "" }))).toBe(true);
    refuseTrial(true, 403, forbidsPrivileged);
    expect(wall(await check())).toBe(false);
  });

  it.each([
    ["none that is ready", [{ ...node, status: { conditions: [{ type: "Ready", status: "False" }] } }]],
    ["only ones that are cordoned", [{ ...node, spec: { unschedulable: true } }]],
    ["none of the sandboxes' processors", []],
  ])("warns of nodes: %s", async (_, nodes) => {
    api.nodes = nodes;
    expect(warnings(await check())).toEqual([
      expect.stringMatching(/no node that is ready for sandboxes: Linux on amd64/),
    ]);
  });

  it("looks only at nodes of the sandboxes' system and processors", async () => {
    await check({ GLOVEBOX_KUBERNETES_ARCHITECTURE: "arm64" });
    const query = new URLSearchParams(api.requests.find(({ path: at }) => at === "/api/v1/nodes")?.query);
    expect(query.get("labelSelector")).toBe("kubernetes.io/os=linux,kubernetes.io/arch=arm64");
  });

  it("tells of old kubelets and of user namespaces", async () => {
    const old = { ...node, status: { ...node.status, nodeInfo: { kubeletVersion: "v1.29.1" }, runtimeHandlers: [] } };
    api.nodes = [node, old];
    const findings = await check();
    expect(warnings(findings)).toEqual([
      expect.stringMatching(/1 nodes have a kubelet that is too old, such as v1\.29\.1/),
    ]);
    expect(findings.map(({ what }) => what)).toContain("1 of 2 nodes could give pods user namespaces.");
  });
});

it("fails with the cluster's words when it may not even ask", async () => {
  api.tokens = [];
  expect((await failureOf(check(), "ENGINE_UNAVAILABLE")).message).toMatch(/does not know who asks/);
});
