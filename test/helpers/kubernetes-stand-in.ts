import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { json } from "node:stream/consumers";
import { WebSocketServer } from "ws";
import { KubernetesEngine } from "../../src/engines/kubernetes/kubernetes-engine.ts";
import { readSettings } from "../../src/engines/kubernetes/cluster-settings.ts";
import { podTerms } from "../../src/engines/kubernetes/pod-terms.ts";
import { supervisorBinary } from "../../src/engines/supervised/supervisor-binary.ts";
import { ends, factBits, frameLimits, stages } from "../../src/engines/supervised/frames/frame-table.ts";
import { SupervisorStandIn } from "./supervisor-stand-in.ts";
import { TlsForwarder } from "./tls-forwarder.ts";

type Fields = Record<string, unknown>;

/** The number that everything random is. */
const chosen = 1_900_000_000;
const epoch = 7;
const token = "t0ken";

/** An API server that holds objects in memory and answers as a test says; its pods' supervisors are stand-ins. */
export class KubernetesStandIn implements AsyncDisposable {
  readonly pods = new Map<string, Fields>();
  readonly configMaps = new Map<string, Fields>();
  readonly networkPolicies = new Map<string, Fields>();
  readonly leases = new Map<string, Fields>();
  /** Whether a pod reaches its node, given its labels and how often it has tried. */
  reaches: (labels: Readonly<Record<string, string>>, tries: number) => boolean = () => false;
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly query: string;
    readonly body: Fields;
  }[] = [];
  readonly supervisors: SupervisorStandIn[] = [];
  /** The container of each. */
  readonly attached: string[] = [];
  /** What the cluster has beside its default. */
  runtimeClasses: readonly string[] = ["kata"];
  /** Refusals of the next calls whose `METHOD path` begins so. */
  readonly refusals: { readonly call: string; readonly status: number; readonly message: string }[] = [];
  /** Refusals of the next trial request for a pod, privileged or not. */
  readonly trialRefusals: { readonly isPrivileged: boolean; readonly status: number; readonly message: string }[] = [];
  version = "v1.35.4";
  /** How many attachments fail before one succeeds: refused, or opened and ended with a failure. */
  attachesFail: ("refused" | "opened")[] = [];
  /** Connections whose attachment was refused and that are still open. */
  refusedConnections = 0;
  /** What a new pod's status is. */
  podStatus: Fields = {
    hostIP: "10.0.0.1",
    phase: "Running",
    containerStatuses: [{ name: "sandbox", imageID: "sha256:1", state: { running: {} } }],
  };
  /** How many looks a removed pod is still there for. */
  looksWhileEnding = 1;
  tokens: readonly string[] = [token];
  /** Whether the account may do something, such as `create pods/attach`. */
  allows: (right: string) => boolean = () => true;
  /** Null: the account may not look at them. */
  nodes: readonly Fields[] | null = null;
  /** What supervisors say of how their pod was started: variables, each with its NUL, and the mount table. */
  variables = "PATH=/image/bin\0MADE_BY=image\0KUBERNETES_SERVICE_HOST=10.0.0.1\0HOSTNAME=pod-name\0";
  mountTable = "1 0 0:1 / / ro - overlay overlay rw\n2 1 0:2 / /dev/shm rw - tmpfs shm rw\n";
  /** What an admission does to each pod. */
  admits: (pod: Fields) => void = () => undefined;
  /** Instead of what a supervisor introduces itself with. */
  helloInstead: Parameters<SupervisorStandIn["hello"]>[0] = {};
  /** How long the answer to what is made takes, after it was made. */
  answersAfterMs = 0;
  #version = 0;
  /** By the names of their pods. */
  readonly #running = new Map<string, SupervisorStandIn[]>();
  readonly #folder = mkdtempSync(path.join(tmpdir(), "glovebox-kubernetes-"));
  readonly #server = http.createServer((request, response) => void this.#answer(request, response));
  #forwarder: TlsForwarder | undefined;

  static async open(): Promise<KubernetesStandIn> {
    const standIn = new KubernetesStandIn();
    const socket = path.join(standIn.#folder, "api.sock");
    standIn.#server.listen(socket);
    await once(standIn.#server, "listening");
    standIn.#serveAttach();
    standIn.#forwarder = await TlsForwarder.to(socket);
    return standIn;
  }

  /** The text of a kubeconfig that leads here. */
  kubeconfig(user: Fields = { token }): string {
    const { folder, port } = this.#forwarder!;
    const data = (name: string): string => readFileSync(path.join(folder, name)).toString("base64");
    return JSON.stringify({
      "current-context": "test",
      contexts: [{ name: "test", context: { cluster: "here", user: "me", namespace: "boxes" } }],
      clusters: [
        {
          name: "here",
          cluster: { server: `https://127.0.0.1:${port}`, "certificate-authority-data": data("ca.pem") },
        },
      ],
      users: [
        {
          name: "me",
          user: { "client-certificate-data": data("cert.pem"), "client-key-data": data("key.pem"), ...user },
        },
      ],
    });
  }

  /** An engine over it; `files` is where its kubeconfig lies. */
  engine(
    kubeconfig: string,
    environment: Readonly<Record<string, string>> = {},
    prebuiltOnly = false,
  ): KubernetesEngine {
    const settings = readSettings(
      { KUBECONFIG: kubeconfig, GLOVEBOX_KUBERNETES_ACCEPT: "network", ...environment },
      "x64",
    );
    return new KubernetesEngine({
      settings,
      environment,
      prebuiltOnly,
      owner: () => Promise.resolve("own-1"),
      now: () => 0,
      monotonicMs: () => performance.now(),
      randomInteger: (minimum, maximum) => (chosen >= minimum && chosen < maximum ? chosen : epoch),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { side } of this.supervisors) side.destroy();
    this.#forwarder?.[Symbol.dispose]();
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.#folder, { recursive: true });
  }

  #serveAttach(): void {
    const sockets = new WebSocketServer({ noServer: true });
    this.#server.on("upgrade", (request, socket, head) => {
      const fails = this.attachesFail.shift();
      const offered = request.headers["sec-websocket-protocol"];
      if (fails === "refused" || offered !== "v5.channel.k8s.io" || !this.#knows(request)) {
        // As a real one does: it leaves the connection for a next request.
        const words = '{"message":"no host assigned"}';
        socket.write(`HTTP/1.1 400 Bad Request\r\ncontent-length: ${words.length}\r\n\r\n${words}`);
        this.refusedConnections += 1;
        socket.on("error", () => undefined);
        socket.on("end", () => socket.end());
        socket.on("close", () => void (this.refusedConnections -= 1));
        socket.resume();
        return;
      }
      sockets.handleUpgrade(request, socket, head, (client) => {
        if (fails === "opened") {
          client.send(Buffer.from(`\u0003{"status":"Failure","message":"container not found"}`));
          client.close(1000);
          return;
        }
        const standIn = new SupervisorStandIn(epoch);
        this.supervisors.push(standIn);
        client.on("message", (data: Buffer) => {
          if (data[0] === 0) standIn.transport.write(data.subarray(1));
        });
        client.on("close", () => standIn.transport.end());
        standIn.transport.on("data", (bytes: Buffer) => client.send(Buffer.concat([Buffer.from([1]), bytes])));
        standIn.transport.on("end", () => client.close(1000));
        this.attached.push(new URL(request.url ?? "", "http://api").searchParams.get("container") ?? "");
        const name = /pods\/([^/]+)\/attach/.exec(request.url ?? "")?.[1] ?? "";
        const pod = this.pods.get(name) ?? {};
        this.#running.set(name, [...(this.#running.get(name) ?? []), standIn]);
        void standIn.next("SETUP").then(() => this.#introduce(standIn, pod));
        void this.#answerDials(standIn, pod);
        void this.#takeFolders(standIn);
      });
    });
  }

  #introduce(standIn: SupervisorStandIn, pod: Fields): void {
    standIn.hello({ ...helloOf(pod), ...this.helloInstead });
    const [variables, mounts] = [Buffer.from(this.variables), Buffer.from(this.mountTable)];
    const fits = (bytes: Buffer): Buffer => (bytes.length > frameLimits.maxStartBytes ? Buffer.alloc(0) : bytes);
    standIn.say("VARIABLES", 0, { bytes: variables.length, tail: fits(variables) });
    standIn.say("MOUNTS", 0, { bytes: mounts.length, tail: fits(mounts) });
  }

  async #answerDials(standIn: SupervisorStandIn, pod: Fields): Promise<void> {
    const { labels } = pod["metadata"] as { readonly labels: Readonly<Record<string, string>> };
    for (let tries = 1; ; tries += 1) {
      const { stream } = await standIn.next("DIAL", tries);
      if (this.reaches(labels, tries)) standIn.say("OPENED", stream, { port: 5_000 });
      else standIn.end(stream, { reason: ends.FAILED, stage: stages.CONNECT, error: 111 });
    }
  }

  async #takeFolders(standIn: SupervisorStandIn): Promise<void> {
    for (let count = 1; ; count += 1) {
      const { stream } = await standIn.next("FILE", count);
      await standIn.next("INPUT_END", count);
      standIn.end(stream);
    }
  }

  #knows({ headers }: IncomingMessage): boolean {
    return this.tokens.includes(headers.authorization?.replace("Bearer ", "") ?? "");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? "", "http://api");
    const method = request.method ?? "";
    const body = Number(request.headers["content-length"] ?? 0) > 0 ? ((await json(request)) as Fields) : {};
    this.requests.push({ method, path: pathname, query: search, body });
    const say = (status: number, value: Fields): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    if (!this.#knows(request)) return say(401, { message: "Unauthorized" });
    const index = this.refusals.findIndex(({ call }) => `${method} ${pathname}`.startsWith(call));
    const [refusal] = index < 0 ? [] : this.refusals.splice(index, 1);
    if (refusal !== undefined) return say(refusal.status, { message: refusal.message });
    if (pathname === "/version") return say(200, { gitVersion: this.version });
    if (pathname.endsWith("/selfsubjectaccessreviews")) {
      const { resourceAttributes } = body["spec"] as { readonly resourceAttributes: Readonly<Record<string, string>> };
      const { verb, resource, subresource } = resourceAttributes;
      const right = [verb, [resource, subresource].filter((part) => part !== undefined).join("/")].join(" ");
      return say(201, { status: { allowed: this.allows(right) } });
    }
    if (pathname === "/api/v1/nodes") {
      return this.nodes === null ? say(403, { message: "nodes is forbidden" }) : say(200, { items: this.nodes });
    }
    const form = /^\/apis?\/(?:(?:networking|coordination)\.k8s\.io\/)?v1\/namespaces\/boxes\/([a-z]+)(?:\/([^/]+))?$/;
    const [, kind = "", name] = form.exec(pathname) ?? [];
    const { pods, leases, configMaps: configmaps, networkPolicies: networkpolicies } = this;
    const objects = new Map(Object.entries({ pods, leases, configmaps, networkpolicies })).get(kind);
    if (objects === undefined) return say(404, { message: "no such path" });
    const runtime = (body["spec"] as { readonly runtimeClassName?: string } | undefined)?.runtimeClassName;
    if (runtime !== undefined && !this.runtimeClasses.includes(runtime))
      return say(403, { message: `pods "x" is forbidden: pod rejected: RuntimeClass "${runtime}" not found` });
    if (method === "POST" && search.includes("dryRun=All")) return this.#judgeTrial(body, say);
    if (method === "POST") return this.#make(objects, body, say);
    if (name === undefined) return say(200, { items: [...objects.values()] });
    const found = objects.get(name);
    if (found === undefined) return say(404, { message: `${name} not found` });
    if (objects === leases && method === "DELETE") {
      const { preconditions } = body as { readonly preconditions?: { readonly resourceVersion?: string } };
      const { resourceVersion } = found["metadata"] as { readonly resourceVersion: string };
      if ((preconditions?.resourceVersion ?? resourceVersion) !== resourceVersion)
        return say(409, { message: "changed" });
      objects.delete(name);
      return say(200, {});
    }
    if (method === "PATCH") {
      const metadata = { ...(found["metadata"] as Fields), resourceVersion: String((this.#version += 1)) };
      objects.set(name, { ...found, ...body, metadata });
      return say(200, objects.get(name)!);
    }
    if (method === "DELETE") {
      found["deleted"] = true;
      for (const { side } of this.#running.get(name) ?? []) side.end();
    } else if (
      found["deleted"] === true &&
      (found["looks"] = Number(found["looks"] ?? 0) + 1) > this.looksWhileEnding
    ) {
      objects.delete(name);
      return say(404, { message: `${name} not found` });
    }
    return say(200, found);
  }

  /** Nothing is kept. */
  #judgeTrial(body: Fields, say: (status: number, value: Fields) => void): void {
    const wanted = JSON.stringify(body).includes('"privileged":true');
    const index = this.trialRefusals.findIndex(({ isPrivileged }) => isPrivileged === wanted);
    const [refusal] = index < 0 ? [] : this.trialRefusals.splice(index, 1);
    return refusal === undefined ? say(201, body) : say(refusal.status, { message: refusal.message });
  }

  #make(objects: Map<string, Fields>, body: Fields, say: (status: number, value: Fields) => void): void {
    const metadata = body["metadata"] as { readonly name: string };
    const { name } = metadata;
    if (objects.has(name)) return say(409, { message: `${name} already exists` });
    if (objects === this.pods) this.admits(body);
    const made = {
      ...body,
      metadata: { ...metadata, uid: `uid-${name}`, resourceVersion: String((this.#version += 1)) },
      status: this.podStatus,
    };
    objects.set(name, made);
    setTimeout(() => say(201, made), this.answersAfterMs);
  }
}

/** The introduction of a supervisor that is what a pod's must be. */
function helloOf(pod: Fields): Parameters<SupervisorStandIn["hello"]>[0] {
  const { securityContext } = pod["spec"] as { readonly securityContext: { readonly runAsUser: number } };
  const user = securityContext.runAsUser;
  const { build, probes } = podTerms(
    supervisorBinary("x64"),
    { user, group: user },
    { limits: { cpus: 1, memoryBytes: 1, pids: 1 } },
  );
  return {
    ...{ mode: 2, capabilities: 0n, user, group: user, tail: Buffer.from(build) },
    facts: factBits.SUBREAPER | factBits.FILTER | factBits.PROCESS_LIMIT,
    ...{ probe1: probes[0].errno, probe2: probes[1].errno, probe3: probes[2].errno },
  };
}
