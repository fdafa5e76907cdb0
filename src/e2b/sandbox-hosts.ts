import type { Config } from "../config/config.ts";

/** A port of a sandbox, as a host names it. */
export interface HostedPort {
  readonly id: string;
  readonly port: number;
  /** As it was sent, in lower case. */
  readonly authority: string;
  readonly scheme: "http" | "https";
}

/** Names of a domain that are no sandbox's: for the control API, and for requests whose headers name a sandbox. */
const ownLabels = ["api", "sandbox"];
const maxPort = 65_535;

/** The hosts of this server: each port of a sandbox has a name below the domain, and below `localhost`. */
export class SandboxHosts {
  readonly #domain: Config["preview"]["domain"];
  readonly #isLoopback: boolean;
  #ownPort = 0;

  constructor(domain: Config["preview"]["domain"], isLoopback: boolean) {
    this.#domain = domain;
    this.#isLoopback = isLoopback;
  }

  /** From now on it listens there. */
  listensAt(port: number): void {
    this.#ownPort = port;
  }

  /** Whether only this machine reaches them, so far as this server knows. */
  get isLocal(): boolean {
    return this.#isLoopback && this.#domain === null;
  }

  /** Below which clients find the ports of their sandboxes; null: nowhere. */
  get authority(): string | null {
    const domain = this.#domain;
    if (domain === null) return this.#isLoopback ? `localhost:${this.#ownPort}` : null;
    const port = domain.port ?? (domain.scheme === "https" ? null : this.#ownPort);
    return port === null ? domain.name : `${domain.name}:${port}`;
  }

  /** Further names of the server itself. */
  get ownNames(): readonly string[] {
    return this.#domain === null
      ? []
      : [this.#domain.name, ...ownLabels.map((label) => `${label}.${this.#domain?.name}`)];
  }

  /** Reads `PORT-ID.DOMAIN`, with E2B's old suffix behind the id or none; null for every other host. */
  read(host: string | undefined): HostedPort | null {
    const authority = (host ?? "").toLowerCase();
    const [, port = "", id, name] =
      /^([1-9]\d{0,4})-([a-z0-9]{1,40})(?:-[a-z0-9]{1,20})?\.([a-z0-9.-]+)(?::\d{1,5})?$/.exec(authority) ?? [];
    if (id === undefined || Number(port) > maxPort) return null;
    const isOwn = name === this.#domain?.name;
    if (!isOwn && name !== "localhost") return null;
    return { id, port: Number(port), authority, scheme: isOwn ? (this.#domain?.scheme ?? "http") : "http" };
  }
}
