import type { EgressConnection, RedactText } from "../egress/egress-connection.ts";
import { certificateFile, networkPort, type NetworkGrant } from "../egress/network-access.ts";
import type { CallOptions, Process } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Denial } from "../policy/network/denial.ts";
import { helperUser } from "../policy/profile.ts";
import type { Sandbox } from "./sandbox.ts";
import { namedDomains, type NetworkPolicy } from "../policy/network/network.ts";

/** A sandbox that may have a network. */
export type NetworkSandbox = Pick<Sandbox, "id" | "capabilities" | "listen" | "placeFile">;

interface OpenNetwork {
  readonly sandbox: NetworkSandbox;
  readonly grant: NetworkGrant;
  readonly onDenied: (denial: Denial) => void;
  /** Removes secrets from the destinations that programs requested. */
  readonly redact: RedactText;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Connects the sandbox to the egress proxy until the connection is closed; resolves when it is open.
 *
 * The sandbox itself has no network. What its programs say at a port of its loopback is carried to the proxy.
 * @throws NETWORK_ERROR, and what the engine throws
 */
export async function openNetwork(open: OpenNetwork): Promise<EgressConnection> {
  const { sandbox, grant, onDenied, redact, signal } = open;
  const network = await grant.connect(sandbox.id, redact);
  network.onDenied = onDenied;
  try {
    await connect(sandbox, { grant, network, signal });
    return network;
  } catch (error) {
    network.close();
    throw error;
  }
}

interface NetworkedExec extends OpenNetwork {
  /** Starts the program. */
  readonly program: () => Promise<Process>;
}

export interface NetworkedProcess {
  readonly process: Process;
  /** Must be closed when the process has ended. */
  readonly network: EgressConnection;
}

/**
 * Starts a process whose sandbox has a connection to the egress proxy (`openNetwork`), and resolves when that is open.
 * On failure the process is ended.
 * @throws NETWORK_ERROR, and what `exec` throws
 */
export async function execWithNetwork(exec: NetworkedExec): Promise<NetworkedProcess> {
  const opening = openNetwork(exec);
  try {
    return await startBeside(exec.program, opening);
  } catch (error) {
    opening.then(
      (network) => network.close(),
      () => undefined,
    );
    throw error;
  }
}

/** Starts a process while its network opens; it is ended if that fails. */
export async function startBeside(
  program: () => Promise<Process>,
  opening: Promise<EgressConnection>,
): Promise<NetworkedProcess> {
  const starting = program();
  try {
    const [process, network] = await Promise.all([starting, opening]);
    return { process, network };
  } catch (error) {
    const process = await starting.catch(() => null);
    await process?.kill("SIGKILL").catch(() => {
      // What is left of it ends with its sandbox, or is ended before the next program.
    });
    throw error;
  }
}

/** A program's share of its sandbox's network. */
interface NetworkUser {
  readonly policy: NetworkPolicy;
  readonly onDenied: (denial: Denial) => void;
  readonly redact: RedactText;
}

export interface NetworkPart {
  /** The connection that all shares use; opened by the first. @throws what `openNetwork` throws */
  open(how: Omit<OpenNetwork, "onDenied" | "redact">): Promise<EgressConnection>;
  /** The connection closes with the last share. */
  leave(): void;
}

/**
 * The network of a sandbox in which several programs run. They share one loopback: whatever one may connect to, all
 * others can too. So all that run at the same time must have the same network, or all none.
 */
export class SharedNetwork {
  readonly #users = new Set<NetworkUser>();
  #opening: Promise<EgressConnection> | null = null;

  /** Call this before the program starts. @throws POLICY_DENIED if programs with another network are running */
  join(user: NetworkUser): NetworkPart {
    const [other] = this.#users;
    if (other !== undefined && keyOf(other.policy) !== keyOf(user.policy)) throw otherNetwork(other.policy);
    this.#users.add(user);
    return {
      open: (how) => this.#open(how),
      leave: () => {
        if (this.#users.delete(user) && this.#users.size === 0) this.#close();
      },
    };
  }

  async #open(how: Omit<OpenNetwork, "onDenied" | "redact">): Promise<EgressConnection> {
    const asked = this.#opening;
    const known = await asked?.catch(() => null);
    if (known?.isLost === false) return known;
    if (this.#opening === asked) {
      this.#opening = openNetwork({
        ...how,
        onDenied: (denial) => {
          for (const { onDenied } of this.#users) onDenied(denial);
        },
        redact: (text) => [...this.#users].reduce((shown, { redact }) => redact(shown), text),
      });
    }
    return this.#opening ?? this.#open(how);
  }

  #close(): void {
    this.#opening?.then(
      (network) => network.close(),
      () => undefined,
    );
    this.#opening = null;
  }
}

function keyOf(policy: NetworkPolicy): string {
  const domains = namedDomains(policy).map((domain) => JSON.stringify(domain));
  return JSON.stringify([policy.kind, ...domains.toSorted()]);
}

function otherNetwork({ kind }: NetworkPolicy): GloveboxError {
  const words = kind === "domains" ? "another list of domains" : `network ${JSON.stringify(kind)}`;
  return new GloveboxError(
    "POLICY_DENIED",
    `network: programs with ${words} run in this sandbox, and all that run there at once share one network.`,
    {
      suggestion: "Ask for the same network, or stop the session's background processes first (stop_process).",
      context: { field: "network", rule: "one-network", network: kind },
    },
  );
}

async function connect(
  sandbox: NetworkSandbox,
  { grant, network, signal }: CallOptions & { readonly grant: NetworkGrant; readonly network: EgressConnection },
): Promise<void> {
  const { execUser, helperUser: hasHelpers = execUser } = sandbox.capabilities;
  const user = hasHelpers ? helperUser : undefined;
  const { listen, placeFile } = sandbox;
  if (listen === undefined || placeFile === undefined) throw noNetwork();
  await Promise.all([
    placeFile({ path: certificateFile, content: Buffer.from(grant.certificates), user }, { signal }),
    network.serve((onConnection) => listen(networkPort, onConnection, { signal })),
  ]);
}

function noNetwork(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "A sandbox without walls of its own has no network of its own either.", {
    suggestion: "Choose an engine whose isolation is at least namespaces, or leave network out.",
    context: { field: "network", missing: "execNetwork" },
  });
}
