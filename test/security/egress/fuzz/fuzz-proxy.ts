import { DnsServer } from "../../../helpers/dns-server.ts";
import type { ProxyClient } from "../../../helpers/proxy-client.ts";
import { ProxySubject } from "../../../helpers/proxy-subject.ts";
import { RawServer, sendPieces } from "../raw-server.ts";
import { channelNoise, makeCase, type FuzzCase } from "./fuzz-case.ts";
import { faultOfAnswer, faultOfReceived } from "./judge-case.ts";
import { Random } from "./random.ts";

export interface FuzzOptions {
  readonly seed: number;
  readonly seconds: number;
  /** Only this case. */
  readonly only?: number | undefined;
  readonly onProgress?: (line: string) => void;
}

export interface FuzzReport {
  readonly cases: number;
  readonly seconds: number;
  /** Requests that reached a far side. */
  readonly forwarded: number;
  readonly peakBytes: number;
  readonly findings: readonly string[];
}

const workers = 10;
const maxResidentBytes = 512 * 1024 * 1024;
const caseMs = 250;
const maxFindings = 20;

/**
 * Sends seeded nonsense through a real proxy process, from both sides, and checks what must hold: the proxy stays alive, a
 * neighbour is always served, a far side gets only well-formed requests for itself and no other server gets any, programs
 * get whole answers or see them break off, and memory stays bounded.
 */
export async function fuzzProxy({ seed, seconds, only, onProgress }: FuzzOptions): Promise<FuzzReport> {
  const dns = await DnsServer.start((name) => (name === "nothing.test" ? undefined : [{ a: "127.0.0.1" }]));
  await using proxy = await ProxySubject.start({ dnsServer: dns.address });
  using forbidden = await RawServer.start((_, socket) => socket.end());
  using near = await RawServer.start((_, socket) =>
    sendPieces(socket, ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell"]),
  );
  const findings: string[] = [];
  const startedMs = performance.now();
  const isOver = (): boolean =>
    performance.now() - startedMs > seconds * 1000 || findings.length >= maxFindings || proxy.hasEnded;
  let [next, cases, forwarded, peakBytes] = [only ?? 0, 0, 0, 0];

  const work = async (): Promise<void> => {
    let current: FuzzCase | undefined;
    using server = await RawServer.start((_, socket) => sendPieces(socket, current?.answer ?? [], current?.staysOpen));
    const at = `web.test:${server.port}`;
    let { client } = await proxy.open(at, `private.test:${forbidden.port}`);
    while (!isOver()) {
      const number = next++;
      const random = new Random(seed, number);
      current = makeCase(random, random.once(15) ? `private.test:${forbidden.port}` : at);
      if (!client.isOpen) ({ client } = await proxy.open(at, `private.test:${forbidden.port}`));
      const fault = await runCase(client, current);
      cases++;
      forwarded += server.connections;
      const faults = [fault, ...server.received.map((bytes) => faultOfReceived(bytes, at))];
      for (const each of faults) if (each !== null) findings.push(`case ${number}: ${each}`);
      server.forget();
      if (random.once(40)) {
        client.sendRaw(channelNoise(random));
        await client.close();
      }
      if (only !== undefined) return;
    }
    await client.close();
  };

  const watch = async (): Promise<void> => {
    const { client } = await proxy.open(`near.test:${near.port}`);
    while (!isOver() && only === undefined) {
      const answer = await client.ask(
        `GET http://near.test:${near.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        {
          withinMs: 15_000,
        },
      );
      if (!answer.text.endsWith("well") && !isOver())
        findings.push(`before case ${next}: a neighbour got ${answer.end}`);
      peakBytes = Math.max(peakBytes, proxy.residentBytes);
      if (peakBytes > maxResidentBytes) findings.push(`before case ${next}: ${peakBytes} bytes of memory`);
      onProgress?.(
        `${cases} cases, ${forwarded} forwarded, ${Math.round(peakBytes / 1e6)} MB, ${findings.length} findings`,
      );
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };

  const all = [watch(), ...Array.from({ length: only === undefined ? workers : 1 }, work)];
  for (const each of await Promise.allSettled(all)) {
    if (each.status === "rejected") findings.push(`about case ${next}: ${String(each.reason)}`);
  }
  if (proxy.hasEnded) findings.push(`about case ${next}: the proxy ended`);
  if (forbidden.connections > 0) findings.push(`${forbidden.connections} connections to what is not allowed`);
  dns.close();
  return { cases, forwarded, peakBytes, findings, seconds: (performance.now() - startedMs) / 1000 };
}

async function runCase(client: ProxyClient, { request, givesUp }: FuzzCase): Promise<string | null> {
  const pieces = request.map((piece) => Buffer.from(piece, "latin1"));
  const answer = await client.ask(pieces, { withinMs: givesUp ? 2 : caseMs });
  return faultOfAnswer(answer);
}
