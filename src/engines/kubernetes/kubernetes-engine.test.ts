import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { KubernetesStandIn } from "../../../test/helpers/kubernetes-stand-in.ts";
import { factBits } from "../supervised/frames/frame-table.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { Container } from "../engine.ts";
import type { KubernetesEngine } from "./kubernetes-engine.ts";

const spec: ContainerSpec = {
  name: "glovebox-sbx-1",
  image: "base:1",
  labels: { "glovebox.managed": "true", "glovebox.expires-at": "1970-01-01T00:10:00.000Z" },
  limits: { cpus: 0.5, memoryBytes: 256 * 1_048_576, pids: 64 },
  scratch: [{ path: "/work", sizeBytes: 8_388_608 }],
};
const unschedulable = { type: "PodScheduled", status: "False", reason: "Unschedulable" };
let folder: string;
let api: KubernetesStandIn;
let engine: KubernetesEngine;

async function configFile(user?: Parameters<KubernetesStandIn["kubeconfig"]>[0]): Promise<string> {
  const file = path.join(folder, "config");
  await writeFile(file, api.kubeconfig(user));
  return file;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "glovebox-kubeconfig-"));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  api = await KubernetesStandIn.open();
  engine = api.engine(await configFile());
});
afterEach(async () => {
  await engine.close();
  await api[Symbol.asyncDispose]();
});

async function started(): Promise<Container> {
  const container = await engine.create(spec);
  await container.start();
  return container;
}

function labelsOfMadePods(): unknown[] {
  const made = api.requests.filter(({ method, path: at }) => method === "POST" && at.endsWith("/pods"));
  return made.map(({ body }) => (body["metadata"] as { readonly labels: unknown }).labels);
}

describe("KubernetesEngine", () => {
  it("says what cluster it found, and not that there is one when there is none", async () => {
    expect(await engine.probe()).toMatchObject({
      available: true,
      version: "v1.35.4",
      setup: { connection: { kind: "tcp", tls: "verified", remote: true, origin: "context test" } },
    });
    await using none = api.engine(path.join(folder, "missing"));
    expect(await none.probe()).toMatchObject({ available: false, isAbsent: true });
  });

  it.each([
    ["an old one", () => void (api.version = "v1.29.3"), /too old: Glovebox needs 1\.30/],
    ["one that does not know it", () => void (api.tokens = []), /does not know who asks/],
    [
      "one that gives it no rights",
      () =>
        void api.refusals.push({
          call: "GET /api/v1/namespaces/boxes/pods",
          status: 403,
          message: "pods is forbidden",
        }),
      /does not allow Glovebox to list pods: pods is forbidden/,
    ],
  ])("does not use %s", async (_, change, reason) => {
    change();
    expect(await engine.probe()).toMatchObject({ available: false, reason: expect.stringMatching(reason) });
  });

  it("brings the supervisor in once, and makes one sealed pod for a sandbox", async () => {
    const [one] = await Promise.all([engine.create(spec), engine.create({ ...spec, name: "glovebox-sbx-2" })]);
    expect(one.id).toBe("glovebox-sbx-1");
    expect([...api.configMaps.values()]).toMatchObject([
      { immutable: true, metadata: { name: expect.stringMatching(/^glovebox-supervisor-x64-[0-9a-f]{32}$/) } },
    ]);
    expect(api.pods.get("glovebox-sbx-1")).toMatchObject({
      spec: {
        restartPolicy: "Never",
        terminationGracePeriodSeconds: 1,
        activeDeadlineSeconds: 660,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        dnsPolicy: "None",
        securityContext: { runAsNonRoot: true, runAsUser: 1_900_000_000, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            image: "base:1",
            command: ["/.glovebox/supervisor"],
            stdinOnce: true,
            resources: { limits: { cpu: "500m", memory: "268435456" } },
            securityContext: {
              privileged: false,
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ["ALL"] },
            },
          },
        ],
      },
    });
  });

  it("runs nothing where the kernel does not keep the limit of processes", async () => {
    api.helloInstead = { facts: factBits.SUBREAPER | factBits.FILTER };
    const { message } = await failureOf(started(), "UNSUPPORTED");
    expect(message).toMatch(/not sealed as it must be \(missing facts: expected "", got "PROCESS_LIMIT"\)/);
  });

  it("gives programs the image's variables, and none of the cluster's or of an admission's", async () => {
    const service =
      "DB_SERVICE_HOST=10.0.0.2\0DB_SERVICE_PORT_HTTP=1\0DB_PORT=tcp://10.0.0.2:1\0DB_PORT_1_TCP_ADDR=10.0.0.2\0";
    api.variables += `${service}WEB_PORT=8080\0TOKEN_OF_THE_MESH=secret\0no name\0=nothing\0`;
    api.admits = (pod) => {
      const { containers } = pod["spec"] as { readonly containers: readonly object[] };
      Object.assign(containers[0]!, { env: [{ name: "TOKEN_OF_THE_MESH", value: "secret" }] });
    };
    const container = await started();
    container.exec({ command: ["env"], environment: { OWN: "1" } }).catch(() => undefined);
    const [sandbox] = api.supervisors;
    const { stream, fields } = await sandbox!.next("SPAWN");
    await expect.poll(() => sandbox!.input(stream).length).toBe(fields.stringsBytes);
    expect(sandbox!.input(stream).toString().split("\0").slice(2).toSorted()).toEqual(
      ["", "HOME=/", "HOSTNAME=sandbox", "MADE_BY=image", "OWN=1", "PATH=/image/bin", "WEB_PORT=8080"].toSorted(),
    );
  });

  it("takes no variable of the image where an admission adds ones that nobody can name", async () => {
    api.admits = (pod) => {
      const { containers } = pod["spec"] as { readonly containers: readonly object[] };
      Object.assign(containers[0]!, { envFrom: [{ secretRef: { name: "mesh" } }] });
    };
    const container = await started();
    container.exec({ command: ["env"] }).catch(() => undefined);
    const [sandbox] = api.supervisors;
    const { stream, fields } = await sandbox!.next("SPAWN");
    await expect.poll(() => sandbox!.input(stream).length).toBe(fields.stringsBytes);
    expect(sandbox!.input(stream).toString()).not.toContain("MADE_BY");
  });

  it("says so when an image has more variables than it is told", async () => {
    api.variables = `BIG=${"x".repeat(1_000_000)}\0`;
    const { message } = await failureOf(started(), "UNSUPPORTED");
    expect(message).toMatch(/^The image base:1 has more variables \(ENV\) .* 49152 bytes together\.$/);
  });

  it("runs nothing with folders of the image on the node's disk, and has them covered in the next pod", async () => {
    api.mountTable +=
      "3 0 254:0 /var/lib/volumes/1 /data rw - ext4 /dev/vda rw\n4 0 254:0 /x /work rw - ext4 /dev/vda rw\n";
    api.mountTable +=
      "5 0 254:0 /log /dev/termination-log rw - ext4 /dev/vda rw\n6 0 254:0 /y /seen ro - ext4 /dev/vda rw\n";
    const { message } = await failureOf(started(), "UNSUPPORTED");
    expect(message).toMatch(
      /gives the image base:1 folders on its disk without a bound \(VOLUME\): \/data; so nothing/,
    );
    await engine.create({ ...spec, name: "two", scratch: [] });
    expect(api.pods.get("two")).toMatchObject({
      spec: {
        volumes: expect.arrayContaining([{ name: "covered-0", emptyDir: { medium: "Memory", sizeLimit: "4096" } }]),
        containers: [
          { volumeMounts: expect.arrayContaining([{ name: "covered-0", mountPath: "/data", readOnly: true }]) },
        ],
      },
    });
    // Who asks for it as scratch has it.
    await engine.create({ ...spec, name: "three", scratch: [{ path: "/data", sizeBytes: 1_048_576 }] });
    expect(JSON.stringify(api.pods.get("three"))).not.toContain("covered-0");
  });

  it("runs nothing where the mount table cannot be read", async () => {
    api.mountTable = "";
    expect((await failureOf(started(), "UNSUPPORTED")).message).toMatch(/mount table cannot be read/);
  });

  it("refuses a supervisor's object that holds something else", async () => {
    await engine.create(spec);
    for (const object of api.configMaps.values()) object["binaryData"] = { supervisor: "AAAA" };
    await using other = api.engine(await configFile());
    const error = await failureOf(other.create({ ...spec, name: "two" }), "UNSUPPORTED");
    expect(error.message).toMatch(/holds something else than Glovebox's supervisor/);
    expect(api.pods.has("two")).toBe(false);
  });

  it("attaches again until the container is there, and says the first words each time", async () => {
    api.attachesFail = ["refused", "opened", "refused"];
    const container = await engine.create(spec);
    expect(await container.inspect()).toMatchObject({ running: false, exitCode: null });
    await container.start();
    expect(await container.isAlive()).toBe(true);
    expect(api.supervisors).toHaveLength(1);
    expect(api.supervisors[0]!.got("SETUP")).toHaveLength(1);
  });

  it("keeps no connection whose attachment was refused", async () => {
    api.attachesFail = ["refused", "refused", "refused"];
    const container = await engine.create(spec);
    await container.start();
    await expect.poll(() => api.refusedConnections).toBe(0);
  });

  it("makes the supervisor's object again that was deleted while a pod waits for it", async () => {
    const container = await engine.create(spec);
    api.configMaps.clear();
    // Some three seconds of tries.
    api.attachesFail = Array.from({ length: 56 }, () => "refused" as const);
    await container.start();
    expect([...api.configMaps.values()]).toMatchObject([
      { binaryData: { supervisor: expect.any(String) }, immutable: true },
    ]);
  });

  it("gives copies of folders by a container that has ended before anything runs beside them", async () => {
    const source = await mkdtemp(path.join(folder, "packages-"));
    await writeFile(path.join(source, "one.py"), "x = 1");
    const mounts = [{ source, target: "/opt/packages", readOnly: true, unchanging: true }];
    const container = await engine.create({ ...spec, mounts });
    await container.start();
    expect(api.attached).toEqual(["folders", "sandbox"]);
    const [folders, sandbox] = api.supervisors;
    const [unpack] = folders!.got("FILE");
    expect(folders!.input(unpack!.stream).toString("latin1")).toContain("x = 1");
    expect(folders!.side.readableEnded || folders!.side.destroyed).toBe(true);
    expect(sandbox!.got("FILE")).toEqual([]);
    expect(api.pods.get("glovebox-sbx-1")).toMatchObject({
      spec: {
        containers: [
          {
            name: "sandbox",
            volumeMounts: expect.arrayContaining([{ name: "copy-0", mountPath: "/opt/packages", readOnly: true }]),
          },
          {
            name: "folders",
            command: ["/.glovebox/supervisor"],
            volumeMounts: expect.arrayContaining([{ name: "copy-0", mountPath: "/folders/0", readOnly: false }]),
            securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
          },
        ],
      },
    });
  });

  it("has all that it makes owned by what the deployment names, as it is now", async () => {
    const owner = { name: "deployment", uid: "uid-1" };
    api.configMaps.set("deployment", { metadata: owner });
    await using owned = api.engine(await configFile(), {
      GLOVEBOX_KUBERNETES_OWNER: "deployment",
      GLOVEBOX_KUBERNETES_ACCEPT: "",
    });
    api.reaches = (labels, tries) => labels["glovebox.network"] !== "none" && tries > 0;
    await owned.create(spec);
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", ...owner }];
    const made = [...api.pods.values(), ...api.networkPolicies.values()];
    expect(made).toMatchObject(made.map(() => ({ metadata: { ownerReferences } })));
    expect([...api.networkPolicies.keys()]).toEqual(["glovebox-sandboxes-deployment"]);
    // Made again under its name: what names the old one would be removed at once.
    api.configMaps.set("deployment", { metadata: { ...owner, uid: "uid-2" } });
    await owned.create({ ...spec, name: "two" });
    expect(api.pods.get("two")).toMatchObject({ metadata: { ownerReferences: [{ uid: "uid-2" }] } });
    api.configMaps.delete("deployment");
    const error = await failureOf(owned.create({ ...spec, name: "three" }), "NOT_FOUND");
    expect(error.suggestion).toMatch(/kubectl create configmap deployment/);
    expect(api.pods.has("three")).toBe(false);
  });

  it("takes a RuntimeClass of the cluster for an OCI runtime, and no other one", async () => {
    expect(await engine.capabilities({ ociRuntime: "kata" })).toMatchObject({ isolation: "container" });
    expect(api.pods.size).toBe(0);
    await engine.create({ ...spec, ociRuntime: "kata" });
    expect(api.pods.get("glovebox-sbx-1")).toMatchObject({ spec: { runtimeClassName: "kata" } });
    for (const name of ["runsc", "../kata", "Kata\n"]) {
      const { message } = await failureOf(engine.capabilities({ ociRuntime: name }), "UNSUPPORTED");
      expect(message).toMatch(/^The cluster has no RuntimeClass ".*" for sandboxes: /);
    }
  });

  it.each([
    [
      "no node has room",
      "CAPACITY",
      { conditions: [{ ...unschedulable, message: "0/1 nodes: Insufficient memory." }] },
      /no node with room for the sandbox: 0\/1 nodes: Insufficient memory/,
    ],
    [
      "the image cannot be pulled",
      "IMAGE_UNAVAILABLE",
      {
        containerStatuses: [
          { name: "sandbox", state: { waiting: { reason: "ErrImagePull", message: "dial tcp: no such host" } } },
        ],
      },
      /its registry cannot be reached/,
    ],
    [
      "no image may be pulled",
      "IMAGE_UNAVAILABLE",
      { containerStatuses: [{ name: "sandbox", state: { waiting: { reason: "ErrImageNeverPull" } } }] },
      /not on the node/,
    ],
    [
      "the runtime refuses",
      "UNSUPPORTED",
      {
        containerStatuses: [
          { name: "sandbox", state: { terminated: { reason: "StartError", message: "exec format error" } } },
        ],
      },
      /cannot start the sandbox: StartError: exec format error/,
    ],
    [
      "the runtime was restarted",
      "SANDBOX_LOST",
      {
        containerStatuses: [
          {
            name: "sandbox",
            state: { terminated: { reason: "StartError", message: "create task: context canceled" } },
          },
        ],
      },
      /cannot start the sandbox: StartError: create task: context canceled/,
    ],
    [
      "the runtime's connection was cut",
      "SANDBOX_LOST",
      {
        containerStatuses: [
          {
            name: "sandbox",
            state: {
              waiting: { reason: "RunContainerError", message: "error reading from server: connection reset by peer" },
            },
          },
        ],
      },
      /cannot start the sandbox: RunContainerError: error reading/,
    ],
    [
      "the node was full",
      "CAPACITY",
      { phase: "Failed", reason: "OutOfmemory", message: "Node has no memory" },
      /no memory/,
    ],
  ] as const)("tells with the cluster's words that %s", async (_, code, status, words) => {
    api.podStatus = status;
    api.attachesFail = Array.from({ length: 12 }, () => "refused" as const);
    const container = await engine.create(spec);
    expect((await failureOf(container.start(), code)).message).toMatch(words);
  });

  it.each([
    [403, `pods "x" is forbidden: exceeded quota: small`, "CAPACITY"],
    [403, `pods "x" is forbidden: violates PodSecurity "restricted:latest"`, "UNSUPPORTED"],
    [403, "pods is forbidden: User cannot create", "ENGINE_UNAVAILABLE"],
    [503, "apiserver is shutting down", "ENGINE_UNAVAILABLE"],
    [422, "Pod is invalid", "UNSUPPORTED"],
  ] as const)("takes HTTP %i (%s) for %s", async (status, message, code) => {
    api.refusals.push({ call: "POST /api/v1/namespaces/boxes/pods", status, message });
    expect((await failureOf(engine.create(spec), code)).message).toMatch(/^[^\n]+$/);
  });

  it("ends a pod by the stream, then removes its object with a grace that tells the truth", async () => {
    const container = await started();
    const removed = container.remove();
    await removed;
    expect(api.pods.size).toBe(0);
    const deletion = api.requests.find(({ method }) => method === "DELETE");
    expect(deletion?.body).toMatchObject({ gracePeriodSeconds: 1, preconditions: { uid: "uid-glovebox-sbx-1" } });
    expect(await container.isAlive()).toBe(false);
    await container.remove();
  });

  it("says that a sandbox whose pod somebody deleted was lost", async () => {
    const container = await started();
    api.pods.clear();
    const exec = failureOf(container.exec({ command: ["a"] }), "SANDBOX_LOST");
    await api.supervisors[0]!.next("SPAWN");
    api.supervisors[0]!.side.end();
    await exec;
  });

  it("says that one was out of memory when the kubelet does", async () => {
    const container = await started();
    const pod = api.pods.get("glovebox-sbx-1")!;
    pod["status"] = {
      phase: "Failed",
      containerStatuses: [{ name: "sandbox", state: { terminated: { reason: "OOMKilled", exitCode: 137 } } }],
    };
    const exec = failureOf(container.exec({ command: ["a"] }), "OOM_KILLED");
    await api.supervisors[0]!.next("SPAWN");
    api.supervisors[0]!.side.end();
    await exec;
  });

  it("removes what was made for a caller who had gone", async () => {
    api.answersAfterMs = 300;
    const abort = new AbortController();
    const created = failureOf(engine.create(spec, { signal: abort.signal }), "CANCELLED");
    await expect.poll(() => api.pods.size).toBe(1);
    abort.abort();
    await created;
    expect(api.pods.size).toBe(0);
  });

  it("lists by labels that Kubernetes cannot hold, and removes what it lists", async () => {
    const labels = { "glovebox.managed": "true", "glovebox.writable-paths": '["/a b"]' };
    await engine.create({ ...spec, labels });
    const [found, ...others] = await engine.list(labels);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ name: "glovebox-sbx-1", labels, running: true });
    const query = new URLSearchParams(
      api.requests.findLast(({ method, path: at }) => method === "GET" && at.endsWith("/pods"))!.query,
    );
    expect(query.get("labelSelector")).toBe("app.kubernetes.io/managed-by=glovebox,glovebox.managed=true");
    expect(await engine.list({ ...labels, "glovebox.writable-paths": "[]" })).toEqual([]);
    await found!.remove();
    expect(await engine.list(labels)).toEqual([]);
  });

  it("pulls an image by a pod of its own, which it removes", async () => {
    expect(await engine.images.has("base:1")).toBe(false);
    await engine.images.pull("base:1");
    // By which a sweep can tell when the server that made it is gone.
    expect(labelsOfMadePods()).toEqual([expect.objectContaining({ "glovebox.owner": "own-1" })]);
    expect(await engine.images.has("base:1")).toBe(true);
    expect(await engine.images.identity("base:1")).toBe("sha256:1");
    await expect.poll(() => api.pods.size).toBe(0);
    await using prebuilt = api.engine(await configFile(), {}, true);
    expect(await prebuilt.images.has("other:1")).toBe(true);
    await prebuilt.create(spec);
    expect(api.pods.get("glovebox-sbx-1")).toMatchObject({ spec: { containers: [{ imagePullPolicy: "Never" }] } });
  });

  it("waits for the end of such a pod only where it holds a quota's room, and at its own end", async () => {
    api.looksWhileEnding = 4;
    await engine.images.pull("base:1");
    expect(api.pods.size).toBe(1);
    const full = { status: 403, message: `pods "x" is forbidden: exceeded quota: small` };
    api.refusals.push({ call: "POST /api/v1/namespaces/boxes/pods", ...full });
    await expect(engine.create(spec)).resolves.toMatchObject({ id: spec.name });
    expect([...api.pods.keys()]).toEqual([spec.name]);
    await engine.images.pull("other:1");
    expect(api.pods.size).toBe(2);
    await engine.close();
    expect([...api.pods.keys()]).toEqual([spec.name]);
  });

  it("waits until a quota has counted that a pod is gone, and not where none has gone", async () => {
    const call = "POST /api/v1/namespaces/boxes/pods";
    const full = { call, status: 403, message: `pods "x" is forbidden: exceeded quota: small` };
    api.refusals.push(full);
    await failureOf(engine.create(spec), "CAPACITY");
    await engine.images.pull("base:1");
    await expect.poll(() => api.pods.size).toBe(0);
    api.refusals.push(full);
    const container = engine.create(spec);
    await expect(container).resolves.toMatchObject({ id: spec.name });
    await (await container).remove();
    api.refusals.push(full, full, full);
    await expect(engine.create(spec)).resolves.toMatchObject({ id: spec.name });
    expect(api.refusals).toEqual([]);
  });

  it.each([
    ["root", { processUser: "0:0" }],
    ["installers", { rootCapabilities: [] }],
    ["a writable root", { writableRoot: { folders: [] } }],
    ["files of this machine", { mounts: [{ source: "/a", target: "/b", readOnly: true }] }],
  ] as const)("refuses %s before anything is made", async (_, change) => {
    await failureOf(engine.create({ ...spec, ...change }), "UNSUPPORTED");
    expect(api.requests).toEqual([]);
  });

  it("asks its command for new credentials when the old ones are refused", async () => {
    const script = `process.stdout.write(JSON.stringify({status: {token: require("fs").readFileSync(${JSON.stringify(path.join(folder, "token"))}, "utf8")}}))`;
    const exec = { command: process.execPath, args: ["-e", script], apiVersion: "client.authentication.k8s.io/v1" };
    await writeFile(path.join(folder, "token"), "first");
    api.tokens = ["first"];
    await using other = api.engine(await configFile({ exec }));
    expect(await other.probe()).toMatchObject({ available: true });
    await writeFile(path.join(folder, "token"), "second");
    api.tokens = ["second"];
    expect(await other.probe()).toMatchObject({ available: true });
  });
});
