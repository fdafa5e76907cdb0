import { CommandError } from "../output/command-error.ts";

export interface PublishedPort {
  readonly hostAddress: string;
  readonly hostPort: number;
  readonly containerPort: number;
  readonly proto: "tcp" | "udp";
  readonly count: number;
}

const maxSpecs = 64;
const maxPort = 65_535;

function readRange(text: string, spec: string, which: "host" | "container"): readonly [number, number] {
  const [first = "", last = first, ...more] = text.split("-");
  const from = Number(first);
  const to = Number(last);
  const isRange = /^\d+$/.test(first) && /^\d+$/.test(last) && more.length === 0 && from <= to && to <= maxPort;
  if (text === "" || !isRange) throw new CommandError("invalidArgument", `invalid publish value: ${spec}`);
  // The first port on the host must be above 1.
  if (from < (which === "host" ? 2 : 1)) {
    throw new CommandError("invalidArgument", `invalid publish ${which} port range: ${text}`);
  }
  return [from, to - from + 1];
}

function readPort(spec: string): PublishedPort {
  const [ports = "", proto = "tcp", ...more] = spec.split("/");
  if ((proto !== "tcp" && proto !== "udp") || more.length > 0) {
    throw new CommandError("invalidArgument", `invalid publish protocol: ${proto}`);
  }
  const [, bracketed, plain, host, container] = /^(?:\[([^\]]*)\]:|([^:[\]]+):)?([^:]*):([^:]*)$/.exec(ports) ?? [];
  if (host === undefined || container === undefined) {
    throw new CommandError("invalidArgument", `invalid publish value: ${spec}`);
  }
  const [hostPort, count] = readRange(host, spec, "host");
  const [containerPort, inner] = readRange(container, spec, "container");
  if (inner !== count)
    throw new CommandError("invalidArgument", `publish host and container port counts are not equal: ${spec}`);
  return { hostAddress: bracketed ?? plain ?? "0.0.0.0", hostPort, containerPort, proto, count };
}

const overlap = (a: PublishedPort, b: PublishedPort): boolean =>
  a.proto === b.proto && a.hostPort < b.hostPort + b.count && b.hostPort < a.hostPort + a.count;

/** `[address:]hostPort:containerPort[/proto]`, with ranges of equal length; a different address alone does not make specs distinct. */
export function readPorts(specs: readonly string[]): readonly PublishedPort[] {
  if (specs.length > maxSpecs) {
    throw new CommandError("invalidArgument", `cannot exceed more than ${maxSpecs} port publish descriptors`);
  }
  const ports = specs.map(readPort);
  if (ports.some((port, index) => ports.slice(0, index).some((other) => overlap(port, other)))) {
    throw new CommandError("invalidArgument", "host ports for different publish port specs may not overlap");
  }
  return ports;
}
