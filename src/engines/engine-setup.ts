/** One part of an engine that has a version of its own. */
export interface EngineComponent {
  /** The product's own name: `runc`, `containerd`, `Docker Engine`, `Podman Engine`, `bubblewrap`. */
  readonly name: string;
  /** As the part tells it, such as `1.1.5+ds1`. */
  readonly version: string;
  /** Its commit or package revision, such as `1.1.5+ds1-1+deb12u1`, where it tells one. */
  readonly build?: string | undefined;
  /** The OCI runtime that it is, if only runs that ask for that one use it. */
  readonly ociRuntime?: string | undefined;
}

/** How an engine's API is reached. */
export interface EngineConnection {
  readonly kind: "socket" | "tcp" | "ssh";
  /** Null without TLS, as over SSH, which encrypts by itself; `unverified`: whoever answers is taken for the engine. */
  readonly tls: "verified" | "unverified" | null;
  /** Whether it may lead to another machine. */
  readonly remote: boolean;
  /** Who named the endpoint, such as `DOCKER_HOST`. */
  readonly origin: string;
}

/** Who the root of a container is on the engine's host. */
export type ContainerRoot = "root" | "remapped" | "rootless";

/** Facts of how an engine is set up; a fact that it does not tell is left out. Judging them is not its business. */
export interface EngineSetup {
  readonly connection?: EngineConnection;
  /** Release of the kernel that its sandboxes share. */
  readonly kernel?: string;
  readonly containerRoot?: ContainerRoot;
  /** Systems of mandatory access control that confine its containers; none: an empty list. */
  readonly accessControl?: readonly ("apparmor" | "selinux")[];
  /** Plugins that decide over requests to its API. */
  readonly authorizationPlugins?: readonly string[];
  /** Where else its API is open, without a proof of who asks, to whoever can reach it: URLs. */
  readonly openAddresses?: readonly string[];
  /** Whether this process sets sandboxes up itself, with its own privileges. */
  readonly inProcess?: boolean;
  /** Whether the program that sets sandboxes up gains root by its setuid bit. */
  readonly setuid?: boolean;
  /** Whether programs are kept in by their own interpreters alone. */
  readonly guardsInterpreters?: boolean;
}
