import { isAtLeast } from "../parser/version.ts";
import { dateOf, type Json, type JsonObject } from "../output/swift-json.ts";
import type { Configuration } from "./configuration.ts";
import { hostNameOf } from "./names.ts";
import type { Mount } from "./volumes.ts";

/** Where a running container can be reached. */
export interface Attachment {
  readonly network: string;
  /** With the length of its network's prefix, such as `192.168.64.3/24`. */
  readonly address: string;
  readonly gateway: string;
  readonly macAddress: string;
  readonly mtu: number;
}

export interface Status {
  readonly state: "running" | "stopped" | "stopping" | "unknown";
  /** Milliseconds since 1970; undefined when it never started. */
  readonly startedMs: number | undefined;
  readonly attachments: readonly Attachment[];
}

function mountJson({ kind, source, destination, options, volume }: Mount): JsonObject {
  const types: Readonly<Record<Mount["kind"], JsonObject>> = {
    virtiofs: { virtiofs: {} },
    tmpfs: { tmpfs: {} },
    volume: { volume: { cache: { on: {} }, format: "ext4", name: volume ?? "", sync: { fsync: {} } } },
  };
  return { destination, options, source, type: types[kind] };
}

function userJson({ user, isUserById }: Configuration): JsonObject {
  const [uid = 0, gid = 0] = user.split(":").map(Number);
  return isUserById ? { id: { gid, uid } } : { raw: { userString: user } };
}

function processJson(configuration: Configuration): JsonObject {
  return {
    arguments: configuration.argv.slice(1),
    environment: configuration.environment,
    executable: configuration.argv[0] ?? "",
    rlimits: configuration.rlimits.map(({ hard, limit, soft }) => ({ hard, limit, soft })),
    supplementalGroups: configuration.supplementalGroups,
    terminal: configuration.terminal,
    user: userJson(configuration),
    workingDirectory: configuration.workingDirectory,
  };
}

function configurationJson(version: string, configuration: Configuration): JsonObject {
  const { id, dns, image, platform } = configuration;
  const hasCapabilities = isAtLeast(version, "0.12.0");
  return {
    ...(hasCapabilities ? { capAdd: configuration.capAdd, capDrop: configuration.capDrop } : {}),
    ...(isAtLeast(version, "1.0.0") ? { creationDate: dateOf(version, configuration.createdMs) } : {}),
    dns:
      dns === null
        ? undefined
        : { domain: dns.domain, nameservers: dns.nameservers, options: dns.options, searchDomains: dns.searchDomains },
    id,
    image: {
      descriptor: { digest: image.digest, mediaType: "application/vnd.oci.image.index.v1+json", size: image.sizeBytes },
      reference: image.reference,
    },
    initProcess: processJson(configuration),
    labels: configuration.labels,
    maskedPaths: configuration.maskedPaths,
    mounts: configuration.mounts.map(mountJson),
    networks: configuration.networks.map(({ network, mtu, macAddress }) => ({
      network,
      options: { hostname: id, macAddress, mtu },
    })),
    platform: { architecture: platform.architecture, os: platform.os },
    publishedPorts: configuration.ports.map((port) => ({ ...port })),
    publishedSockets: [],
    readOnly: configuration.readOnly,
    readonlyPaths: configuration.readOnlyPaths,
    resources: { cpuOverhead: 1, cpus: configuration.cpus, memoryInBytes: configuration.memoryBytes },
    rosetta: configuration.rosetta,
    runtimeHandler: "container-runtime-linux",
    shmSize: configuration.sharedMemoryBytes,
    ssh: configuration.ssh,
    stopSignal: configuration.stopSignal,
    sysctls: {},
    useInit: configuration.init,
    virtualization: configuration.virtualization,
  };
}

/** A container as the version's `list --format json` and `inspect` print it. */
export function containerJson(version: string, configuration: Configuration, status: Status): Json {
  const startedDate = status.startedMs === undefined ? undefined : dateOf(version, status.startedMs);
  const isNew = isAtLeast(version, "1.0.0");
  const networks = status.attachments.map(({ network, address, gateway, macAddress, mtu }): JsonObject => {
    const hostname = hostNameOf(configuration.id);
    if (!isAtLeast(version, "0.8.0")) return { network, hostname, address, gateway };
    return { network, hostname, ipv4Address: address, ipv4Gateway: gateway, macAddress, mtu: isNew ? mtu : undefined };
  });
  const described = configurationJson(version, configuration);
  if (isNew)
    return { configuration: described, id: configuration.id, status: { networks, startedDate, state: status.state } };
  return {
    status: status.state,
    configuration: described,
    networks,
    startedDate: isAtLeast(version, "0.8.0") ? startedDate : undefined,
  };
}
