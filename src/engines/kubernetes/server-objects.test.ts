import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KubernetesStandIn } from "../../../test/helpers/kubernetes-stand-in.ts";
import { KubernetesApi } from "./kubernetes-api.ts";
import { findCluster } from "./kubernetes-engine.ts";
import { ServerLeases } from "./server-objects.ts";
import { readSettings } from "./cluster-settings.ts";

let api: KubernetesStandIn;
let folder = "";
const closing: ServerLeases[] = [];
beforeEach(async () => {
  api = await KubernetesStandIn.open();
  folder = await mkdtemp(path.join(os.tmpdir(), "glovebox-test-"));
  await writeFile(path.join(folder, "config"), api.kubeconfig());
});
afterEach(async () => {
  for (const each of closing.splice(0)) await each.close();
  await api[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** The leases as one server sees them, by its own clocks. */
function server(
  clock: { ms: number },
  { name, wallMs = 0, owner }: { name?: string; wallMs?: number; owner?: string } = {},
): ServerLeases {
  const environment = { KUBECONFIG: path.join(folder, "config") };
  const access = (): ReturnType<typeof findCluster> => findCluster(readSettings(environment, "x64"), environment);
  const calls = new KubernetesApi({ environment, now: () => 0, findCluster: access });
  const leases = new ServerLeases(calls, {
    ...{ owner, now: () => wallMs, monotonicMs: () => clock.ms },
    server: name === undefined ? undefined : () => Promise.resolve(name),
  });
  closing.push(leases);
  return leases;
}

const nobody = new Set<string>();

describe("leases of servers in a namespace", () => {
  it("are the deployment's, bear the server's name, and are given back at its end", async () => {
    api.configMaps.set("deployment", { metadata: { name: "deployment", uid: "uid-1" } });
    const one = server({ ms: 0 }, { name: "srv-1", owner: "deployment" });
    await one.hold();
    await one.hold();
    expect([...api.leases.values()]).toMatchObject([
      {
        metadata: {
          name: "glovebox-server-srv-1",
          labels: { "glovebox.owner": "srv-1", "app.kubernetes.io/managed-by": "glovebox" },
          ownerReferences: [{ kind: "ConfigMap", uid: "uid-1" }],
        },
        spec: { holderIdentity: "srv-1", leaseDurationSeconds: 40, renewTime: "1970-01-01T00:00:00.000000Z" },
      },
    ]);
    await one.close();
    expect(api.leases.size).toBe(0);
  });

  it("stay while pods of their server are left", async () => {
    const one = server({ ms: 0 }, { name: "srv-1" });
    await one.hold();
    api.pods.set("left", { metadata: { name: "left" } });
    await one.close();
    expect([...api.leases.keys()]).toEqual(["glovebox-server-srv-1"]);
  });

  it("run out when they were seen unchanged for as long as they last, whatever any wall clock says", async () => {
    const clock = { ms: 5_000_000 };
    const other = server({ ms: 0 }, { name: "srv-2", wallMs: Date.parse("1980-01-01") });
    await other.hold();
    const one = server(clock, { wallMs: Date.parse("2100-01-01") });
    expect(await one.stateOf("srv-2")).toBe("living");
    clock.ms += 39_000;
    expect(await one.stateOf("srv-2")).toBe("living");
    // Renewed.
    await server({ ms: 0 }, { name: "srv-2" }).hold();
    clock.ms += 39_000;
    expect(await one.stateOf("srv-2")).toBe("living");
    clock.ms += 41_000;
    expect(await one.stateOf("srv-2")).toBe("expired");
  });

  it("that have run out are removed, except of servers that have left something, and never one's own", async () => {
    const clock = { ms: 0 };
    const one = server(clock, { name: "srv-1" });
    await one.hold();
    for (const name of ["srv-2", "srv-3"]) await server({ ms: 0 }, { name }).hold();
    await one.forget(nobody);
    expect(api.leases.size).toBe(3);
    clock.ms += 41_000;
    await one.forget(new Set(["srv-3"]));
    expect([...api.leases.keys()]).toEqual(["glovebox-server-srv-1", "glovebox-server-srv-3"]);
    expect(await one.stateOf("srv-1")).toBe("living");
    expect(await one.stateOf("srv-3")).toBe("expired");
  });

  it("are not taken by what is no server", async () => {
    for (const one of [server({ ms: 0 }), server({ ms: 0 }, { name: "../pods" })]) await one.hold();
    expect(api.requests).toEqual([]);
  });

  it("say nothing of servers that have none, or of what is no server's name", async () => {
    const one = server({ ms: 0 });
    for (const name of ["absent", "", "../pods", "A", "a/../../b", "x".repeat(80)])
      expect(await one.stateOf(name)).toBe("unknown");
    expect(api.requests.map(({ path: at }) => at)).toEqual([
      "/apis/coordination.k8s.io/v1/namespaces/boxes/leases/glovebox-server-absent",
    ]);
  });
});
