import type { ContainerRoot, EngineComponent, EngineConnection, EngineSetup } from "../engine-setup.ts";
import type { Endpoint } from "./http/endpoint.ts";

/** The part of `/version` that is read here. */
export interface ComponentsAnswer {
  readonly Platform?: { readonly Name?: string } | null;
  readonly Components?:
    | readonly {
        readonly Name?: string;
        readonly Version?: string;
        readonly Details?: { readonly GitCommit?: string } | null;
      }[]
    | null;
}

/** The part of `/info` that is read here. */
export interface SetupAnswer {
  readonly SecurityOptions?: readonly string[] | null;
  readonly KernelVersion?: string;
  readonly Plugins?: { readonly Authorization?: readonly string[] | null } | null;
  readonly Warnings?: readonly string[] | null;
}

/** The engine's parts with their versions; a part with an unknown version is left out. */
export function engineComponents({ Components, Platform }: ComponentsAnswer): readonly EngineComponent[] {
  const parts = (Components ?? []).flatMap(({ Name = "", Version = "", Details }): EngineComponent[] => {
    const version = versionIn(Version);
    if (version === null) return [];
    const build = Details?.GitCommit || /^commit: (\S+)/m.exec(Version)?.[1];
    return [{ name: productName(Name), version, ...(build && build !== "unknown" ? { build } : {}) }];
  });
  const desktop = /^Docker Desktop (\S+)/.exec(Platform?.Name ?? "")?.[1];
  return desktop === undefined ? parts : [{ name: "Docker Desktop", version: desktop }, ...parts];
}

/** How the engine says that it is set up. */
export function engineSetup(info: SetupAnswer, endpoint: Endpoint): EngineSetup {
  const options = optionNames(info.SecurityOptions ?? []);
  const kernel = info.KernelVersion;
  return {
    connection: engineConnection(endpoint),
    ...(kernel === undefined || kernel === "" ? {} : { kernel }),
    containerRoot: containerRoot(info.SecurityOptions ?? []),
    accessControl: (["apparmor", "selinux"] as const).filter((system) => options.has(system)),
    authorizationPlugins: info.Plugins?.Authorization ?? [],
    openAddresses: (info.Warnings ?? []).flatMap((warning) => openApi.exec(warning)?.[1] ?? []),
  };
}

/** Who root inside is, by what the engine says of its security. */
export function containerRoot(securityOptions: readonly string[]): ContainerRoot {
  const options = optionNames(securityOptions);
  return options.has("rootless") ? "rootless" : options.has("userns") ? "remapped" : "root";
}

function optionNames(securityOptions: readonly string[]): ReadonlySet<string> {
  return new Set(securityOptions.map((option) => /(?:^|,)name=([^,]+)/.exec(option)?.[1] ?? option));
}

/** Docker's own warning of an API that asks nobody for a certificate (moby, daemon/info.go). */
const openApi = /API is accessible on (\S+) without (?:encryption|TLS client verification)/;

/** How the API is reached there. */
export function engineConnection(endpoint: Endpoint): EngineConnection {
  const { kind, origin } = endpoint;
  if (kind === "socket") return { kind, tls: null, remote: false, origin };
  // An alias of `ssh` may lead anywhere.
  if (kind === "ssh") return { kind, tls: null, remote: true, origin };
  const tls = endpoint.tls === null ? null : endpoint.tls.verify ? "verified" : "unverified";
  return { kind, tls, remote: !/^(?:localhost|127(?:\.\d+){3}|::1)$/i.test(endpoint.host), origin };
}

/** Docker calls itself `Engine`; Podman calls its runtime `OCI Runtime (runc)`. */
function productName(name: string): string {
  if (name === "Engine") return "Docker Engine";
  return /^OCI Runtime \((.+)\)$/.exec(name)?.[1] ?? name;
}

/** `1.1.5+ds1` of itself, of `v1.1.5+ds1` and of `runc version 1.1.5+ds1` with more lines below. */
function versionIn(text: string): string | null {
  return /(?:^|\s)v?(\d+\.\d[^\s,]*)/.exec(text)?.[1] ?? null;
}
