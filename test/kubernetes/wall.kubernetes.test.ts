import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { KubernetesEngine } from "../../src/engines/kubernetes/kubernetes-engine.ts";
import { readSettings } from "../../src/engines/kubernetes/cluster-settings.ts";
import type { Container, Engine } from "../../src/engines/engine.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";
import { clusterApi, clusterEnvironment } from "./cluster-environment.ts";

const namespaces = { denied: createId("denied"), open: createId("open") };
const environmentOf = (namespace: string, accept: string): Readonly<Record<string, string>> =>
  clusterEnvironment({ GLOVEBOX_KUBERNETES_NAMESPACE: namespace, GLOVEBOX_KUBERNETES_ACCEPT: accept });

function open(environment: Readonly<Record<string, string>>): Engine {
  const settings = readSettings(environment, process.arch);
  return new KubernetesEngine({
    settings,
    environment,
    prebuiltOnly: true,
    now: Date.now,
    monotonicMs: () => performance.now(),
    randomInteger: randomInt,
  });
}

const environment = environmentOf(namespaces.denied, "");
const api = clusterApi(environment);
/** Its pods are denied the network; those of the other one are not. */
const engines = { denied: open(environment), open: open(environmentOf(namespaces.open, "network")) };
const containers: Container[] = [];

async function started(engine: Engine): Promise<Container> {
  const sandbox = createId("sbx");
  const container = await engine.create({
    ...{ name: `glovebox-${sandbox}`, image: testImages.python, labels: { "glovebox.sandbox": sandbox } },
    ...{ limits: { cpus: 1, memoryBytes: 268_435_456, pids: 64 }, scratch: [{ path: "/work", sizeBytes: 8_388_608 }] },
  });
  containers.push(container);
  await container.start();
  return container;
}

async function python(container: Container, code: string, ...args: readonly string[]): Promise<string> {
  const process = await container.exec({ command: ["python3", "-c", code, ...args] });
  let said = "";
  for await (const { bytes } of process.output) said += Buffer.from(bytes).toString();
  return said.trim();
}

/** Says of each `kind:address:port` whether anything answers there. */
const knock = `
import socket, struct, sys
for target in sys.argv[1:]:
    kind, address, port = target.split("|")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    s = socket.socket(family, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM)
    s.settimeout(1.5)
    try:
        s.connect((address, int(port)))
        if kind == "udp":
            s.send(b"ask")
            s.recv(512)
        print("open")
    except OSError:
        print("closed")
`;

const serve = `
import socket, threading
tcp = socket.create_server(("0.0.0.0", 8000))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("0.0.0.0", 8001))
def answer():
    while True:
        data, peer = udp.recvfrom(512)
        udp.sendto(data, peer)
threading.Thread(target=answer, daemon=True).start()
print("up", flush=True)
while True:
    tcp.accept()
`;

/** A pod with a server that everybody may use, and its address. */
async function server(engine: Engine): Promise<string> {
  const container = await started(engine);
  const running = await container.exec({ command: ["python3", "-c", serve] });
  running.exit.catch(() => undefined);
  await running.output[Symbol.asyncIterator]().next();
  return python(container, "import socket; print(socket.gethostbyname(socket.gethostname()))");
}

beforeAll(async () => {
  for (const name of Object.values(namespaces)) {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
    await api.call("make a namespace", { method: "POST", path: "/api/v1/namespaces", body });
    const path = `/api/v1/namespaces/${name}/serviceaccounts/default`;
    await until(async () => (await api.call("look", { method: "GET", path }, [404])).status === 200);
  }
});
afterAll(async () => {
  await Promise.allSettled(containers.map((container) => container.remove()));
  for (const name of Object.values(namespaces)) {
    await api.call("remove a namespace", { method: "DELETE", path: `/api/v1/namespaces/${name}` }, [404]);
  }
  await Promise.all([engines.denied.close(), engines.open.close()]);
  api.close();
});

describe("the wall round a pod", () => {
  it("lets nothing reach other pods, the node, the API server, metadata or DNS, which an open pod reaches", async () => {
    const [other, neighbour] = await Promise.all([server(engines.open), server(engines.denied)]);
    const [denied, free] = await Promise.all([started(engines.denied), started(engines.open)]);
    const { access } = await api.connection();
    const node = addressOfNode((await api.call("look at the nodes", { method: "GET", path: "/api/v1/nodes" })).body);
    const targets = [`tcp|${other}|8000`, `udp|${other}|8001`, `tcp|${node}|10250`];
    expect(await python(free, knock, ...targets)).toBe("open\nopen\nopen");
    const more = [
      ...[`tcp|${neighbour}|8000`, `udp|${neighbour}|8001`, `tcp|${access.url.hostname}|${access.url.port}`],
      ...["tcp|169.254.169.254|80", "udp|10.96.0.10|53", "tcp|10.96.0.1|443", "udp|8.8.8.8|53"],
    ];
    const said = await python(denied, knock, ...targets, ...more);
    expect(said.split("\n")).toEqual([...targets, ...more].map(() => "closed"));
  });

  it("leaves no token, no address of the cluster and no name to be found", async () => {
    const denied = await started(engines.denied);
    const hunt = `
import glob, os, socket
print([name for name in os.environ if "KUBERNETES" in name or "SERVICE" in name])
places = glob.glob("/var/run/secrets/**", recursive=True) + glob.glob("/run/secrets/**", recursive=True)
print([place for place in places if os.path.lexists(place) and not os.path.isdir(place)])
found = []
for file in glob.glob("/proc/[0-9]*/environ"):
    try:
        found += [part for part in open(file, "rb").read().split(b"\\0") if b"KUBERNETES" in part]
    except OSError:
        pass
print(found)
for name in ("kubernetes.default.svc", "example.org"):
    try:
        print(socket.getaddrinfo(name, 443))
    except OSError as error:
        print("no name")
try:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    print("raw")
except OSError:
    print("no raw socket")
`;
    expect(await python(denied, hunt)).toBe("[]\n[]\n[]\nno name\nno name\nno raw socket");
  });

  it("is proven anew for each pod: where somebody has deleted the policy nothing runs, and the next one has it again", async () => {
    const path = `/apis/networking.k8s.io/v1/namespaces/${namespaces.denied}/networkpolicies/glovebox-sandboxes`;
    const [witness, { body }] = await Promise.all([
      started(engines.denied),
      api.call("look at the nodes", { method: "GET", path: "/api/v1/nodes" }),
    ]);
    await api.call("remove the policy", { method: "DELETE", path });
    // What enforces policies takes a while to forget one.
    await until(async () => (await python(witness, knock, `tcp|${addressOfNode(body)}|10250`)) === "open");
    // A new pod may be closed by what was known of the last one at its address, and is open a moment later.
    let first = started(engines.denied);
    for (let tries = 1; tries < 5 && (await first.then(Boolean, () => false)); tries += 1)
      first = started(engines.denied);
    // Others of this server were closed: so the cluster enforces policies, and this start may be tried again.
    const error = await failureOf(first, "ENGINE_UNAVAILABLE");
    expect(error.message).toMatch(/policy was not in force 5 s after .*, so nothing was run in it/);
    const next = await started(engines.denied);
    expect(await python(next, "print('sealed')")).toBe("sealed");
  });
});

function addressOfNode(body: Readonly<Record<string, unknown>>): string {
  const [node] = body["items"] as readonly {
    readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] };
  }[];
  return node?.status.addresses.find(({ type }) => type === "InternalIP")?.address ?? "";
}
