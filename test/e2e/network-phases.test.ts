import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import { loadHostConfig } from "../../src/config/load-config.ts";
import type { NetworkGrant } from "../../src/egress/network-access.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { createPlatform } from "../../src/platform/platform.ts";
import type { Platform } from "../../src/platform/platform.ts";
import type { Denial } from "../../src/policy/network/denial.ts";
import { lockedPolicy } from "../../src/policy/network/egress-policy.ts";
import { parseNetwork } from "../../src/policy/network/network.ts";
import { execWithNetwork, type NetworkedProcess } from "../../src/sandbox/sandbox-network.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { DnsServer } from "../helpers/dns-server.ts";
import { FarSide } from "../helpers/far-side.ts";
import { engines } from "../helpers/open-glovebox.ts";
import { skipOrFail } from "../helpers/require.ts";
import { RunningProcess } from "../helpers/running-process.ts";
import { testImages } from "../helpers/test-images.ts";

const dns = await DnsServer.start(() => [{ a: "127.0.0.1" }]);
const index = await FarSide.start((request, response) => {
  if (request.url !== "/endless") return void response.end("small");
  const more = setInterval(() => response.write("more\n"), 20);
  response.once("close", () => clearInterval(more));
});
const other = await FarSide.start((_, response) => void response.end("other"));
process.env["PIP_INDEX_URL"] = `http://index.test:${index.port}/simple`;

afterAll(() => {
  delete process.env["PIP_INDEX_URL"];
  for (const each of [dns, index, other]) each.close();
});

/** Reads an endless answer until it breaks, then requests the addresses that it gets over standard input. */
const program = `
import sys, urllib.error, urllib.request
sys.stdin.readline()
endless = urllib.request.urlopen(sys.argv[1], timeout=20)
print("open", flush=True)
try:
    while endless.read(5): print(".", end="", flush=True)
except Exception: pass
print("\\ncut", flush=True)
for line in sys.stdin:
    try:
        print(urllib.request.urlopen(line.strip(), timeout=10).read().decode(), flush=True)
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode().replace("\\n", " "), flush=True)
`;

describe.each(engines)("network phases on %s", (name) => {
  let platform: Platform;
  let engine: Engine;
  let problem: string | null = null;

  beforeAll(async () => {
    const network = { dns_servers: [dns.address], private_hosts: [`other.test:${other.port}`] };
    const { config, host } = await loadHostConfig({ settings: { images: testImages, network } });
    platform = await createPlatform({ config, host, door: "person" });
    try {
      ({ engine } = await platform.chooseEngine(name));
    } catch (error) {
      problem = (error as Error).message;
    }
  });
  beforeEach((context) => {
    if (problem !== null) skipOrFail(context, name, problem);
  });
  afterAll(() => platform.close());

  const open = (): Promise<Sandbox> =>
    platform.sandboxes.open(
      engine,
      {
        kind: "execute",
        image: testImages.python,
        limits: { cpus: 1, memoryBytes: 256 * mebibyte, pids: 64 },
        scratch: [{ path: "/tmp", sizeBytes: 16 * mebibyte }],
        lifetimeMs: 120_000,
      },
      { principal: "test" },
    );

  const start = (
    sandbox: Sandbox,
    grant: NetworkGrant,
    onDenied: (denial: Denial) => void,
  ): Promise<NetworkedProcess> =>
    execWithNetwork({
      sandbox,
      program: () =>
        sandbox.exec({
          command: ["python3", "-c", program, `http://index.test:${index.port}/endless`],
          environment: grant.environment,
        }),
      grant,
      onDenied,
      redact: (text) => text,
    });

  const granted = async (network: unknown): Promise<NetworkGrant> => {
    const grant = await platform.network.grant(parseNetwork(network), "test");
    if (grant === null) throw new Error("a grant was expected");
    return grant;
  };

  it("a lock cuts the open download and refuses what comes, by its rule", async () => {
    await using sandbox = await open();
    const denied: Denial[] = [];
    const { process, network } = await start(sandbox, await granted("registries"), (each) => denied.push(each));
    const running = new RunningProcess(process);
    process.stdin.write("the network is up\n");
    await running.until("stdout", "open\n.");
    await network.change(lockedPolicy);
    await running.until("stdout", "cut\n");
    const { stdout } = await running.finish(`http://index.test:${index.port}/again\n`);
    expect(stdout.toString()).toMatch(/^open\n\.+\ncut\n403 .*Rule: locked\. .*only while packages were installed/);
    await network.settle();
    expect(denied).toEqual([expect.objectContaining({ rule: "locked", target: `index.test:${index.port}` })]);
    expect(index.requests.filter((request) => request.endsWith("/again"))).toEqual([]);
    network.close();
  });

  it("another policy cuts what it does not allow and opens what it does", async () => {
    await using sandbox = await open();
    const { process, network } = await start(sandbox, await granted("registries"), () => undefined);
    const running = new RunningProcess(process);
    process.stdin.write("the network is up\n");
    await running.until("stdout", "open\n.");
    await network.change((await granted([`other.test:${other.port}`])).policy);
    await running.until("stdout", "cut\n");
    const asked = [`http://other.test:${other.port}/`, `http://index.test:${index.port}/`];
    const { stdout } = await running.finish(`${asked.join("\n")}\n`);
    expect(stdout.toString()).toMatch(/^open\n\.+\ncut\nother\n403 .*Rule: not_allowed\. /);
    network.close();
  });

  it("a policy that still allows the connection leaves it open", async () => {
    await using sandbox = await open();
    const { process, network } = await start(sandbox, await granted("registries"), () => undefined);
    const running = new RunningProcess(process);
    process.stdin.write("the network is up\n");
    await running.until("stdout", "open\n.");
    await network.change((await granted("registries")).policy);
    await running.until("stdout", `open\n${".".repeat(running.text("stdout").length + 10)}`);
    expect(running.text("stdout")).not.toContain("cut");
    await sandbox.remove();
    network.close();
  });
});
