import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { createId } from "../../src/base/id.ts";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { serverImageContext } from "../helpers/server-image-context.ts";
import { testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";
import { clusterApi, clusterEnvironment } from "./cluster-environment.ts";
import { imageOnNode } from "./node-image.ts";

const namespace = createId("inside").replace("_", "-");
const image = `glovebox-test/server-${process.pid}:1`;
const api = clusterApi(clusterEnvironment({ GLOVEBOX_KUBERNETES_NAMESPACE: namespace }));
const buildMs = 900_000;

interface KubernetesObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly name: string };
}
interface ServerPod extends KubernetesObject {
  readonly status: { readonly podIP?: string };
}

/** What `kubectl apply` does with the files, in the namespace of the test, with these changes to their text. */
async function apply(name: string, changes: Readonly<Record<string, string>>): Promise<void> {
  let yaml = readFileSync(path.join(projectFolder, "deploy/kubernetes", name), "utf8");
  for (const [from, to] of Object.entries({ "namespace: glovebox": `namespace: ${namespace}`, ...changes })) {
    expect(yaml).toContain(from);
    yaml = yaml.replaceAll(from, to);
  }
  for (const document of parseAllDocuments(yaml)) {
    const object = document.toJS() as KubernetesObject;
    const { kind, apiVersion } = object;
    const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
    const isNamespace = kind === "Namespace";
    const body = isNamespace ? { ...object, metadata: { ...object.metadata, name: namespace } } : object;
    const at = isNamespace ? "/api/v1/namespaces" : `${root}/namespaces/${namespace}/${kind.toLowerCase()}s`;
    await api.call(`make ${kind}`, { method: "POST", path: at, query: { fieldValidation: "Strict" }, body });
  }
}

async function objects(kind: string): Promise<readonly KubernetesObject[]> {
  const { body } = await api.call("list", { method: "GET", path: await api.path(kind) });
  return body["items"] as readonly KubernetesObject[];
}

/** Objects of the server's making, by their names. */
async function made(kind: string): Promise<readonly string[]> {
  const path = await api.path(kind);
  const query = { labelSelector: "app.kubernetes.io/managed-by=glovebox" };
  const { body } = await api.call("list", { method: "GET", path, query });
  return (body["items"] as readonly KubernetesObject[]).map(({ metadata }) => metadata.name);
}

describe("the server in the cluster", () => {
  let onNode: AsyncDisposable | undefined;
  let address = "";
  let key = "";

  beforeAll(async () => {
    const folder = serverImageContext();
    try {
      const context = execFileSync("tar", ["-c", "-C", folder, "."], { maxBuffer: 2 ** 30 });
      onNode = imageOnNode(image, context, { NODE_IMAGE: testImages.javascript });
    } finally {
      rmSync(folder, { recursive: true });
    }
    await apply("namespace.yaml", {});
    const printed = execFileSync(gloveboxCommand, ["keys", "add", "team", "--print"], { stdio: "pipe" });
    const team = JSON.parse(printed.toString()) as { readonly key: string; readonly entry: object };
    key = team.key;
    await api.call("make the keys", {
      ...{ method: "POST", path: await api.path("secrets") },
      body: {
        ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "glovebox-keys" } },
        stringData: { "keys.json": JSON.stringify({ keys: [team.entry] }) },
      },
    });
    await apply("deployment.yaml", {
      "image: glovebox": `image: ${image}`,
      "          env:\n": `          env:\n            - { name: GLOVEBOX_IMAGES_ALLOW, value: "${testImages.python}" }\n`,
    });
    // Ready by the probes of the file.
    await until(async () => {
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/glovebox-server`;
      const { body } = await api.call("look", { method: "GET", path });
      return (body["status"] as { readonly availableReplicas?: number }).availableReplicas === 1;
    });
    const pods = (await objects("pods")) as readonly ServerPod[];
    address = pods.find(({ metadata }) => metadata.name.startsWith("glovebox-server"))?.status.podIP ?? "";
  }, buildMs);

  afterAll(async () => {
    await api.call("remove a namespace", { method: "DELETE", path: `/api/v1/namespaces/${namespace}` }, [404]);
    await until(async () => {
      const path = `/api/v1/namespaces/${namespace}`;
      return (await api.call("look", { method: "GET", path }, [404])).status === 404;
    });
    api.close();
    await onNode?.[Symbol.asyncDispose]();
  }, 120_000);

  const ask = async (where: string, body?: object): Promise<{ readonly status: number; readonly answer: unknown }> => {
    const sent = request({
      ...{ host: address, port: 8420, path: where, method: body === undefined ? "GET" : "POST" },
      // As other pods name it, by the Service.
      headers: {
        ...{ host: "glovebox.glovebox.svc:8420", authorization: `Bearer ${key}` },
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
    });
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; answer: unknown }>();
    sent.on("error", reject).on("response", (response) => {
      text(response).then((words) => {
        resolve({ status: response.statusCode ?? 0, answer: JSON.parse(words) as unknown });
      }, reject);
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  };

  it("runs a program by its service account, with the network denied", { timeout: 120_000 }, async () => {
    const program = { language: "python", code: "print(6 * 7)", image: testImages.python };
    expect(await ask("/api/sandbox/execute", program)).toMatchObject({
      status: 200,
      answer: { outcome: "completed", stdout: "42\n", engine: "kubernetes" },
    });
    expect(await made("leases")).toHaveLength(1);
  });

  it("leaves nothing when its ConfigMap is deleted", { timeout: 120_000 }, async () => {
    const { answer } = await ask("/api/environments", { image: testImages.python, read_only_root: true });
    expect(answer).toMatchObject({ env_id: expect.any(String) });
    expect(await made("pods")).not.toEqual([]);
    await api.call("remove the owner", { method: "DELETE", path: await api.path("configmaps", "glovebox-server") });
    await until(async () => {
      const left = await Promise.all(["pods", "leases", "networkpolicies", "configmaps"].map(made));
      return left.flat().length === 0;
    });
  });
});
