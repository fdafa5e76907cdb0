import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import pino from "pino";
import { createId } from "../../src/base/id.ts";
import { ProxyProcess, type ProxyProcessOptions } from "../../src/egress/proxy-process.ts";
import type { Logger } from "../../src/base/logger.ts";
import { readUpstreamProxy } from "../../src/policy/network/upstream-proxy.ts";
import type { Denial } from "../../src/policy/network/denial.ts";
import { parseDomainPattern, parseAuthority } from "../../src/policy/network/domain-names.ts";
import type { EgressPolicy } from "../../src/policy/network/egress-policy.ts";
import { ProxyClient } from "./proxy-client.ts";

export interface ProxySubjectOptions {
  readonly dnsServer: string;
  readonly hostAddresses?: readonly string[];
  /** Environment of the server that names an upstream proxy. */
  readonly upstream?: Readonly<Record<string, string>>;
  readonly upstreamResolves?: boolean;
  /** Receives the log; default: none does. */
  readonly logger?: Logger;
}

export interface OpenedChannel {
  readonly client: ProxyClient;
  readonly name: string;
  readonly denials: readonly Denial[];
}

/** How a server starts its proxies. */
export function proxyOptions(dnsServer: string): Omit<ProxyProcessOptions, "logger"> {
  return {
    platform: process.platform,
    node: subjectNode(),
    environment: {},
    temporaryDirectory: tmpdir(),
    dnsServers: [dnsServer],
    hostAddresses: [],
    upstream: null,
  };
}

/** The Node that runs the proxy: this one, or the one that GLOVEBOX_TEST_PROXY_NODE names. */
function subjectNode(): { readonly executable: string; readonly flags: ReadonlySet<string> } {
  const other = process.env["GLOVEBOX_TEST_PROXY_NODE"];
  if (other === undefined) return { executable: process.execPath, flags: process.allowedNodeEnvironmentFlags };
  const flags = execFileSync(other, ["-p", "[...process.allowedNodeEnvironmentFlags].join()"], { encoding: "utf8" });
  return { executable: other, flags: new Set(flags.trim().split(",")) };
}

/** The egress proxy's process alone, started as a server does. */
export class ProxySubject implements AsyncDisposable {
  readonly process: ProxyProcess;
  readonly pid: number;
  hasEnded = false;

  static async start(options: ProxySubjectOptions): Promise<ProxySubject> {
    const { dnsServer, hostAddresses = [], upstream = {}, upstreamResolves = false } = options;
    const before = new Set(proxyPids());
    const { logger = pino({ level: "fatal" }) } = options;
    const read = readUpstreamProxy(upstream, upstreamResolves);
    if (read !== null && "fault" in read) throw new Error(read.fault);
    const environment = pickCertificates(upstream);
    const own = { ...proxyOptions(dnsServer), environment, hostAddresses, upstream: read, logger };
    const started = await ProxyProcess.start(own);
    return new ProxySubject(started, proxyPids().find((pid) => !before.has(pid)) ?? 0);
  }

  private constructor(process: ProxyProcess, pid: number) {
    this.process = process;
    this.pid = pid;
    void process.ended.then(() => (this.hasEnded = true));
  }

  /** A sandbox's channel whose policy allows the domains and trusts the hosts among them that have a port. */
  async open(...domains: readonly string[]): Promise<OpenedChannel> {
    const denials: Denial[] = [];
    const name = createId("chn");
    const socket = await this.process.openChannel(name, policyOf(...domains), {
      onDenied: (denial) => void denials.push(denial),
    });
    return { client: new ProxyClient(socket), name, denials };
  }

  /** Memory that the process uses. */
  get residentBytes(): number {
    const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) * 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process.close();
  }
}

function pickCertificates({ NODE_EXTRA_CA_CERTS: file }: Readonly<Record<string, string>>): Record<string, string> {
  return file === undefined ? {} : { NODE_EXTRA_CA_CERTS: file };
}

/** A policy that allows the domains; names with a port may have private addresses. */
export function policyOf(...domains: readonly string[]): EgressPolicy {
  return {
    name: "domains",
    allowed: domains.map((domain) => parseDomainPattern(domain, "network")),
    trusted: domains.flatMap((domain) => {
      const host = parseAuthority(domain, null);
      return typeof host === "string" || domain.startsWith("private.") ? [] : [host];
    }),
    maxBytes: 1024 * 1024 * 1024,
  };
}

/** The proxy processes that this process started. */
export function proxyPids(): readonly number[] {
  const lines = execFileSync("ps", ["-ww", "--ppid", String(process.pid), "-o", "pid=,args="], { encoding: "utf8" });
  return lines
    .split("\n")
    .filter((line) => line.includes("proxy-main"))
    .map((line) => Number(line.trim().split(/\s+/)[0]));
}
