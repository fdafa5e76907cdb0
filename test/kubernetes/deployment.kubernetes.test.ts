import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { createId } from "../../src/base/id.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";
import { clusterApi, clusterEnvironment } from "./cluster-environment.ts";
import { useCluster } from "./cluster-glovebox.ts";

const namespace = createId("deployed").replace("_", "-");
const variables = { GLOVEBOX_KUBERNETES_NAMESPACE: namespace, GLOVEBOX_IMAGES_ALLOW: testImages.python };
const environment = clusterEnvironment(variables);
const api = clusterApi(environment);
type Named = { readonly metadata: { readonly name: string } };

async function named(kind: string): Promise<readonly string[]> {
  const { body } = await api.call("list", { method: "GET", path: await api.path(kind) });
  return (body["items"] as readonly Named[]).map(({ metadata }) => metadata.name);
}
const liftQuota = async (): Promise<void> =>
  void (await api.call("lift", { method: "DELETE", path: await api.path("resourcequotas", "small") }, [404]));
/** Bounds the namespace, and waits until the cluster counts by it. */
async function setQuota(hard: Readonly<Record<string, string>>): Promise<void> {
  await make("resourcequotas", {
    ...{ apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "small" } },
    spec: { hard },
  });
  await until(async () => {
    const path = await api.path("resourcequotas", "small");
    return (await api.call("look", { method: "GET", path })).body["status"] !== undefined;
  });
}
const make = async (kind: string, body: object): Promise<void> =>
  void (await api.call("make", { method: "POST", path: await api.path(kind), body }));

beforeAll(async () => {
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } };
  await api.call("make a namespace", { method: "POST", path: "/api/v1/namespaces", body });
  await until(async () => (await named("serviceaccounts")).includes("default"));
});
afterAll(async () => {
  await api.call("remove a namespace", { method: "DELETE", path: `/api/v1/namespaces/${namespace}` }, [404]);
  api.close();
});

describe("the deployment of a server in a cluster", () => {
  it("is taken by the cluster as it is, in a namespace that takes nothing but restricted pods", async () => {
    const files = ["namespace.yaml", "deployment.yaml"].map((name) =>
      readFileSync(path.join(projectFolder, "deploy/kubernetes", name), "utf8"),
    );
    const objects = files.flatMap((text) =>
      parseAllDocuments(text).map((document) => document.toJS() as Readonly<Record<string, unknown>>),
    );
    const groups: Readonly<Record<string, string>> = { apps: "apps/v1", rbac: "rbac.authorization.k8s.io/v1" };
    const kinds: string[] = [];
    for (const { metadata, ...object } of objects) {
      const { kind, apiVersion } = object as { readonly kind: string; readonly apiVersion: string };
      kinds.push(kind);
      if (kind === "Namespace") continue;
      const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
      expect([...Object.values(groups), "v1"]).toContain(apiVersion);
      const at = `${root}/namespaces/${namespace}/${kind.toLowerCase()}s`;
      const body = { ...object, metadata: { ...(metadata as object), namespace } };
      const query = { dryRun: "All", fieldValidation: "Strict" };
      await api.call(`try ${kind}`, { method: "POST", path: at, query, body });
      if (kind !== "Deployment") continue;
      // Admission judges pods, and of a Deployment only warns.
      const { template } = (
        object as unknown as {
          readonly spec: { readonly template: { readonly metadata: object; readonly spec: object } };
        }
      ).spec;
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { ...template.metadata, name: "trial" } };
      const spec = { ...template.spec, serviceAccountName: "default" };
      await api.call("try its pod", { method: "POST", path: await api.path("pods"), query, body: { ...pod, spec } });
    }
    expect(kinds.slice(4)).toEqual(["ConfigMap", "Deployment", "Service"]);
  });
});

/** A server with an environment in it; its state is apart from that of the others, as on another machine. */
async function serverWithPod(more: Readonly<Record<string, string>> = {}): Promise<ServedGlovebox> {
  const served = await serveGlovebox({ ...environment, ...more }, undefined, "kubernetes");
  const request = { image: testImages.python, read_only_root: true };
  const { status, body } = await served.call("POST", "/api/environments", request);
  expect([status, body]).toEqual([expect.any(Number), expect.objectContaining({ env_id: expect.any(String) })]);
  return served;
}

describe("servers that share a namespace", { timeout: 300_000 }, () => {
  it("leave each other's pods alone, and remove those of one that was killed within a minute of the next start", async () => {
    await using living = await serverWithPod();
    const killed = await serverWithPod();
    // Those that pulled the image go by themselves.
    await until(async () => (await named("pods")).length === 2);
    const [pods, leases] = [await named("pods"), await named("leases")];
    expect(leases).toHaveLength(2);
    {
      await using sweeper = await serveGlovebox(environment, undefined, "kubernetes");
      await sweeper.call("POST", "/api/sandbox/execute", { language: "python", code: "print(1)" });
      // Its second sweep, by which it would know who is gone.
      await new Promise((resolve) => void setTimeout(resolve, 46_000));
      expect(await named("pods")).toEqual(expect.arrayContaining([...pods]));
    }
    killed.child.kill("SIGKILL");
    await killed.ended;
    await using next = await serveGlovebox(environment, undefined, "kubernetes");
    await next.call("POST", "/api/sandbox/execute", { language: "python", code: "print(1)" });
    const sinceMs = performance.now();
    await until(async () => (await named("pods")).length === 1 && (await named("leases")).length === 2);
    expect(performance.now() - sinceMs).toBeLessThan(60_000);
    expect(pods).toContain((await named("pods"))[0]);
    const { status } = await living.call("GET", "/api/environments");
    expect(status).toBe(200);
  });

  it("lose all that they made with the object that owns it", async () => {
    await make("configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner" } });
    const before = new Set([...(await named("pods")), ...(await named("leases"))]);
    await using _ = await serverWithPod({ GLOVEBOX_KUBERNETES_OWNER: "owner", GLOVEBOX_KUBERNETES_ACCEPT: "" });
    expect(await named("networkpolicies")).toContain("glovebox-sandboxes-owner");
    await api.call("remove the owner", { method: "DELETE", path: await api.path("configmaps", "owner") });
    const isNew = (name: string): boolean => !before.has(name);
    await until(async () => {
      const left = [...(await named("pods")), ...(await named("leases"))].filter(isNew);
      return left.length === 0 && !(await named("networkpolicies")).includes("glovebox-sandboxes-owner");
    });
  });
});

describe("a namespace with a quota and warm pods", { timeout: 120_000 }, () => {
  const glovebox = useCluster(
    { settings: { images: testImages, warm_pool: { mode: "on", min: 1, max: 1 } } },
    variables,
  );

  afterAll(liftQuota);

  it("has the room of the one that waits, for somebody's sandbox", async () => {
    await until(async () => (await named("pods")).length === 0);
    await setQuota({ pods: "2" });
    const { outcome } = await glovebox().execute({ language: "python", code: "print(1)" });
    expect(outcome).toBe("completed");
    // What waits stays; pods of runs go.
    let seen: readonly string[] = [];
    await until(async () => {
      const before = seen;
      seen = await named("pods");
      return seen.length === 1 && before.join() === seen.join();
    });
    const small = { limits: { memory_mb: 256 }, image: testImages.python, read_only_root: true };
    const held = [];
    for (let count = 0; count < 2; count++) held.push(await glovebox().environments.create(small));
    expect(await named("pods")).not.toContain(seen[0]);
    for (const { env_id } of held) await glovebox().environments.destroy({ env_id });
  });
});

describe("a namespace with a quota", { timeout: 120_000 }, () => {
  const glovebox = useCluster({}, variables);
  const small = { limits: { memory_mb: 256 } };
  const run = (memory_mb: number) =>
    glovebox().execute({ language: "python", code: "print(1)", limits: { memory_mb } });

  it("is full, or too small, in the cluster's own words, and has room again when another sandbox is gone", async () => {
    await until(async () => (await named("pods")).length === 0);
    await setQuota({ pods: "2", "limits.memory": "1Gi" });
    expect((await run(256)).outcome).toBe("completed");
    const large = await failureOf(run(2_048), "CAPACITY");
    expect(large.message).toMatch(/no room by its quota: .*exceeded quota: small, requested: .*limits\.memory/);
    // A place is free when its pod's object is gone.
    const isEmpty = async (): Promise<void> => until(async () => (await named("pods")).length === 0);
    await isEmpty();
    const held = await Promise.all(
      [0, 1].map(() => glovebox().environments.create({ ...small, image: testImages.python, read_only_root: true })),
    );
    expect((await failureOf(run(256), "CAPACITY")).message).toMatch(/exceeded quota: small/);
    for (const { env_id } of held) await glovebox().environments.destroy({ env_id });
    await isEmpty();
    expect((await run(256)).outcome).toBe("completed");
    await make("limitranges", {
      ...{ apiVersion: "v1", kind: "LimitRange", metadata: { name: "range" } },
      spec: { limits: [{ type: "Container", max: { memory: "384Mi" } }] },
    });
    const beyond = await failureOf(run(512), "UNSUPPORTED");
    expect(beyond.message).toMatch(/refuses the sandbox: .*maximum memory usage per Container is 384Mi/);
  });
});
