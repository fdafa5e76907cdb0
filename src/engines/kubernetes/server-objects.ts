import type { CallOptions, OwnerWatch } from "../engine.ts";
import { labels as ownLabels } from "../labels.ts";
import { ownerReferences, type KubernetesApi } from "./kubernetes-api.ts";
import { managedBy, supervisorFile } from "./pod.ts";
import type { Kit } from "../../base/kit.ts";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { SupervisorBinary } from "../supervised/supervisor-binary.ts";
import { engineName } from "./kubernetes-errors.ts";

/** Of each, as Kubernetes names its objects; others may have written labels. */
const ownerForm = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const prefix = "glovebox-server-";
const renewMs = 10_000;
/** A lease that has not changed for so long while it was watched has run out: four renewals. */
const lastsMs = 40_000;

interface Lease {
  readonly metadata?: { readonly name?: string; readonly uid?: string; readonly resourceVersion?: string };
}

interface Sighting {
  readonly version: string;
  readonly firstSeenMs: number;
}

interface ServerLeasesOptions extends Pick<Kit, "now" | "monotonicMs"> {
  /** As `EngineSurroundings.owner`; left out: there is no lease to hold. */
  readonly server: (() => Promise<string>) | undefined;
  /** Name of the ConfigMap that the deployment names. */
  readonly owner: string | undefined;
}

/**
 * One `Lease` in the namespace for each living server, so that the others know whose pods are left over (SPEC SO8). Clocks of machines
 * differ: a lease has run out when this server has seen it unchanged for as long as it lasts, by this server's own clock.
 */
export class ServerLeases implements OwnerWatch {
  readonly settlesMs: number = lastsMs;
  readonly #api: KubernetesApi;
  readonly #options: ServerLeasesOptions;
  readonly #sightings = new Map<string, Sighting>();
  #own: string | undefined;
  #held: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(api: KubernetesApi, options: ServerLeasesOptions) {
    this.#api = api;
    this.#options = options;
  }

  async hold(): Promise<void> {
    const server = await this.#options.server?.();
    if (server === undefined || !ownerForm.test(server)) return;
    this.#own = server;
    const held = (this.#held ??= this.#renew(server));
    held.catch(() => {
      this.#held = undefined;
    });
    await held;
    this.#timer ??= setInterval(() => {
      this.#renew(server).catch(() => {
        // The next one tries again; who misses four is taken for gone.
      });
    }, renewMs).unref();
  }

  async stateOf(server: string, { signal }: CallOptions = {}): Promise<"living" | "expired" | "unknown"> {
    if (server === this.#own) return "living";
    if (!ownerForm.test(server)) return "unknown";
    const path = await this.#api.path("leases", `${prefix}${server}`);
    const { status, body } = await this.#api.call("look at a lease", { method: "GET", path, signal }, [404]);
    if (status === 404) return "unknown";
    return this.#isLate(server, body) ? "expired" : "living";
  }

  /** Looks at all leases, and removes those that have run out of servers that have left nothing. */
  async forget(busy: ReadonlySet<string>, { signal }: CallOptions = {}): Promise<void> {
    const path = await this.#api.path("leases");
    const labelSelector = Object.entries(managedBy).map(([name, value]) => `${name}=${value}`);
    const query = { labelSelector: labelSelector.join(",") };
    const { body } = await this.#api.call("list the leases", { method: "GET", path, query, signal });
    for (const lease of (body as { readonly items?: readonly Lease[] }).items ?? []) {
      const { name = "", uid, resourceVersion } = lease.metadata ?? {};
      const server = name.startsWith(prefix) ? name.slice(prefix.length) : "";
      if (!ownerForm.test(server) || server === this.#own || busy.has(server)) continue;
      if (!this.#isLate(server, lease)) continue;
      // One that was renewed meanwhile stays.
      const preconditions = { uid, resourceVersion };
      const gone = {
        method: "DELETE",
        path: await this.#api.path("leases", name),
        body: { preconditions },
        signal,
      } as const;
      await this.#api.call("remove a lease", gone, [404, 409]);
      this.#sightings.delete(server);
    }
  }

  /** Gives this server's lease back, unless pods of it are left, of which others must know then. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const server = this.#own;
    if (server === undefined || this.#held === undefined) return;
    try {
      await this.#held;
      const query = { limit: "1", labelSelector: `${ownLabels.owner}=${server}` };
      const { body } = await this.#api.call("list its pods", {
        method: "GET",
        path: await this.#api.path("pods"),
        query,
      });
      if (((body as { readonly items?: readonly unknown[] }).items ?? []).length > 0) return;
      const path = await this.#api.path("leases", `${prefix}${server}`);
      await this.#api.call("give its lease back", { method: "DELETE", path }, [404]);
    } catch {
      // It runs out by itself.
    }
  }

  #isLate(server: string, { metadata }: Lease): boolean {
    const version = `${metadata?.uid ?? ""} ${metadata?.resourceVersion ?? ""}`;
    const nowMs = this.#options.monotonicMs();
    const seen = this.#sightings.get(server);
    if (seen?.version === version) return nowMs - seen.firstSeenMs > lastsMs;
    this.#sightings.set(server, { version, firstSeenMs: nowMs });
    return false;
  }

  async #renew(server: string): Promise<void> {
    const name = `${prefix}${server}`;
    const renewTime = new Date(this.#options.now()).toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: server, leaseDurationSeconds: lastsMs / 1000, renewTime };
    const patch = { method: "PATCH", path: await this.#api.path("leases", name), body: { spec } } as const;
    const { status } = await this.#api.call("renew its lease", patch, [404]);
    if (status !== 404) return;
    const owner = await ownerReferences(this.#api, this.#options.owner);
    const body = {
      ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease", spec },
      metadata: { name, labels: { ...managedBy, [ownLabels.owner]: server }, ...owner },
    };
    await this.#api.call("take a lease", { method: "POST", path: await this.#api.path("leases"), body }, [409]);
  }
}

/** The immutable object of the namespace by which the supervisor reaches pods; servers share it. */
export class SupervisorObject {
  readonly name: string;
  readonly #api: KubernetesApi;
  readonly #binary: SupervisorBinary;
  readonly #owner: string | undefined;
  #made: Promise<void> | undefined;

  constructor(api: KubernetesApi, binary: SupervisorBinary, owner: string | undefined) {
    this.name = `glovebox-supervisor-${binary.architecture}-${binary.sha256.slice(0, 32)}`;
    this.#api = api;
    this.#binary = binary;
    this.#owner = owner;
  }

  /** Has it there. @throws UNSUPPORTED when something else has its name */
  async ready(): Promise<void> {
    const made = (this.#made ??= this.#make());
    made.catch(() => {
      this.#made = undefined;
    });
    await made;
  }

  /** Has it there again if somebody has deleted it, without which pods wait for ever. */
  async restore({ signal }: CallOptions): Promise<void> {
    const path = await this.#api.path("configmaps", this.name);
    const look = { method: "GET", path, signal, metadataOnly: true } as const;
    const { status } = await this.#api.call("look at the supervisor", look, [404]);
    if (status !== 404) return;
    this.#made = undefined;
    await this.ready();
  }

  async #make(): Promise<void> {
    const [bytes, path, owner] = await Promise.all([
      readFile(this.#binary.path),
      this.#api.path("configmaps"),
      ownerReferences(this.#api, this.#owner),
    ]);
    const body = {
      ...{ apiVersion: "v1", kind: "ConfigMap", immutable: true },
      metadata: { name: this.name, labels: managedBy, ...owner },
      binaryData: { [supervisorFile]: bytes.toString("base64") },
    };
    const { status } = await this.#api.call(
      "bring the supervisor into the cluster",
      { method: "POST", path, body },
      [409],
    );
    if (status !== 409) return;
    const found = await this.#api.call("look at the supervisor", { method: "GET", path: `${path}/${this.name}` });
    const data = (found.body["binaryData"] as Readonly<Record<string, string>> | undefined)?.[supervisorFile] ?? "";
    const sha256 = createHash("sha256").update(Buffer.from(data, "base64")).digest("hex");
    if (sha256 === this.#binary.sha256) return;
    throw new GloveboxError(
      "UNSUPPORTED",
      `The ConfigMap ${this.name} holds something else than Glovebox's supervisor.`,
      {
        suggestion: `Find out who made it, and delete it: kubectl delete configmap ${this.name}`,
        context: { engine: engineName },
      },
    );
  }
}
