/**
 * Run by `runInOwnNetwork`: requests names whose addresses belong to this machine or change, through the proxy alone or
 * from a sandbox of the engine in the first argument, and prints what came back and which servers were reached.
 */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { createGlovebox } from "../../helpers/wire-glovebox.ts";
import { DnsServer, type DnsRecord } from "../../helpers/dns-server.ts";
import { getProgram } from "../../helpers/network-scene.ts";
import { ProxySubject } from "../../helpers/proxy-subject.ts";
import { testImages } from "../../helpers/test-images.ts";
import { addressOfNat, addressesOf } from "./own-addresses.ts";

/** The result of requesting a name. */
export interface Asked {
  readonly answer: string;
  readonly rules: readonly string[];
  /** Connections to this machine's service meanwhile, and the bytes that it was sent. */
  readonly connections: number;
  readonly bytes: number;
}

const dns = await DnsServer.start((name, asked): readonly DnsRecord[] | undefined => addressesOf(name, asked));
let [connections, bytes] = [0, 0];
const service = createServer((socket) => {
  connections++;
  socket.on("error", () => socket.destroy());
  socket.on("data", (received) => {
    bytes += received.length;
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nSECRET");
  });
});
service.listen(0, "::");
await once(service, "listening");
const { port } = service.address() as AddressInfo;
const [place = "", ...names] = process.argv.slice(2);
const ask = place === "proxy" ? await byProxy() : await bySandbox(place as "docker");
const asked: Record<string, Asked> = {};
for (const name of names) {
  [connections, bytes] = [0, 0];
  const { answer, rules } = await ask.of(name);
  asked[name] = { answer, rules, connections, bytes };
}
await ask.close();
service.close();
dns.close();
process.stdout.write(`${JSON.stringify(asked)}\n`);

interface Asking {
  readonly of: (name: string) => Promise<{ readonly answer: string; readonly rules: readonly string[] }>;
  readonly close: () => Promise<void>;
}

async function byProxy(): Promise<Asking> {
  const proxy = await ProxySubject.start({ dnsServer: dns.address, hostAddresses: [addressOfNat] });
  return {
    of: async (name) => {
      // None of them is allowed to have private addresses.
      const { client, denials } = await proxy.open(`private.${name}:${port}`);
      const answers = [];
      for (const _ of [1, 2]) {
        const request = `GET http://private.${name}:${port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
        answers.push((await client.ask(request)).text);
      }
      await proxy.process.flush();
      return { answer: answers.join(), rules: denials.map(({ rule }) => rule) };
    },
    close: () => proxy[Symbol.asyncDispose](),
  };
}

async function bySandbox(engine: "docker" | "podman" | "local"): Promise<Asking> {
  const network = {
    dns_servers: [dns.address],
    host_addresses: [addressOfNat],
    private_hosts: [`trusted.test:${port}`],
  };
  const glovebox = await createGlovebox({ engine, settings: { images: testImages, network, log_level: "fatal" } });
  return {
    of: async (name) => {
      const host = name === "trusted.test" ? name : `private.${name}`;
      const response = await glovebox.execute({
        language: "python",
        code: getProgram,
        args: [`http://${host}:${port}/`],
        network: [`${host}:${port}`],
        timeout_seconds: 60,
      });
      const denials = (response.error?.context["denials"] ?? []) as readonly { readonly rule: string }[];
      return { answer: `${response.outcome} ${response.stdout}`, rules: denials.map(({ rule }) => rule) };
    },
    close: () => glovebox.close(),
  };
}
