import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { KubernetesStandIn } from "../../../test/helpers/kubernetes-stand-in.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { KubernetesEngine } from "./kubernetes-engine.ts";

const spec: ContainerSpec = {
  name: "glovebox-sbx-1",
  image: "base:1",
  labels: { "glovebox.managed": "true", "glovebox.expires-at": "1970-01-01T00:10:00.000Z" },
  limits: { cpus: 0.5, memoryBytes: 256 * 1_048_576, pids: 64 },
  scratch: [{ path: "/work", sizeBytes: 8_388_608 }],
};
let folder: string;
let api: KubernetesStandIn;
let engine: KubernetesEngine;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "glovebox-kubeconfig-"));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  api = await KubernetesStandIn.open();
  const file = path.join(folder, "config");
  await writeFile(file, api.kubeconfig());
  engine = api.engine(file, { GLOVEBOX_KUBERNETES_ACCEPT: "" });
});
afterEach(async () => {
  await engine.close();
  await api[Symbol.asyncDispose]();
});

async function started(): Promise<void> {
  await (await engine.create(spec)).start();
}

function labelsOfMadePods(): unknown[] {
  const made = api.requests.filter(({ method, path: at }) => method === "POST" && at.endsWith("/pods"));
  return made.map(({ body }) => (body["metadata"] as { readonly labels: unknown }).labels);
}

describe("the wall around pods, where the network is not accepted", () => {
  const denied = (labels: Readonly<Record<string, string>>): boolean => labels["glovebox.network"] === "none";

  it("runs nothing before the policy is seen to hold inside, and asks an open pod once what can be reached", async () => {
    // A new pod is open for its first moments.
    api.reaches = (labels, tries) => !denied(labels) || tries <= 4;
    await started();
    expect([...api.networkPolicies.values()]).toMatchObject([
      { spec: { podSelector: { matchLabels: { "glovebox.network": "none" } }, policyTypes: ["Ingress", "Egress"] } },
    ]);
    await expect.poll(() => [...api.pods.keys()]).toEqual(["glovebox-sbx-1"]);
    expect(labelsOfMadePods()[0]).toMatchObject({ "glovebox.owner": "own-1" });
    const [open, sandbox] = api.supervisors;
    expect(open!.got("DIAL")[0]!.fields).toMatchObject({ port: 10_250, tail: Buffer.from([10, 0, 0, 1]) });
    expect(sandbox!.got("DIAL").length).toBeGreaterThanOrEqual(6);
    expect(sandbox!.got("SPAWN")).toEqual([]);
    await (await engine.create({ ...spec, name: "two" })).start();
    expect(api.supervisors).toHaveLength(3);
  });

  it("looks out of the pod that the first image is pulled by, and of none of the later ones", async () => {
    api.reaches = (labels) => !denied(labels);
    await engine.images.pull("base:1");
    await engine.images.pull("other:1");
    await started();
    expect(labelsOfMadePods().map((labels) => denied(labels as Readonly<Record<string, string>>))).toEqual([
      ...[false, true, true],
    ]);
    expect(api.supervisors.map((each) => each.got("DIAL").length)).toEqual([2, 0, 6]);
  });

  it("pulls an image where nothing can be shown, and asks again by another pod before it runs anything", async () => {
    await engine.images.pull("base:1");
    expect((await failureOf(engine.create(spec), "UNSUPPORTED")).message).toMatch(/Nothing shows whether/);
    api.reaches = (labels) => !denied(labels);
    await started();
    expect(api.supervisors).toHaveLength(4);
  });

  it("refuses a cluster that does not enforce policies, and makes the policy again for the next sandbox", async () => {
    api.reaches = () => true;
    const container = await engine.create({ ...spec, labels: { ...spec.labels, "glovebox.network": "any" } });
    const error = await failureOf(container.start(), "UNSUPPORTED");
    expect(error.message).toMatch(/does not enforce network policies/);
    expect(error.suggestion).toMatch(/Calico, Cilium or kube-router.*GLOVEBOX_KUBERNETES_ACCEPT=network/);
    expect(api.supervisors.flatMap((each) => each.got("SPAWN"))).toEqual([]);
    // Somebody may have deleted it.
    api.networkPolicies.clear();
    await engine.create({ ...spec, name: "two" });
    expect(api.networkPolicies.size).toBe(1);
  });

  it("asks to try again where pods were closed before and one is not", async () => {
    api.reaches = (labels) => !denied(labels);
    await started();
    api.reaches = () => true;
    const container = await engine.create({ ...spec, name: "two" });
    const error = await failureOf(container.start(), "ENGINE_UNAVAILABLE");
    expect(error).toMatchObject({ retryable: true, message: expect.stringMatching(/not in force 5 s after/) });
    expect(api.supervisors.flatMap((each) => each.got("SPAWN"))).toEqual([]);
  });

  it("takes a pod that reaches nothing anyway for no proof", async () => {
    expect((await failureOf(engine.create(spec), "UNSUPPORTED")).message).toMatch(/Nothing shows whether/);
    await expect.poll(() => api.pods.size).toBe(0);
  });
});
