import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { lockedPolicy } from "../../../src/policy/network/egress-policy.ts";
import { DnsServer } from "../../helpers/dns-server.ts";
import { engines, useGlovebox } from "../../helpers/open-glovebox.ts";
import { runInOwnNetwork } from "../../helpers/own-network.ts";
import { ProxySubject } from "../../helpers/proxy-subject.ts";
import type { Asked } from "./address-scene.ts";
import { nameOfUnlisted, names, ownNetwork } from "./own-addresses.ts";
import { RawServer, sendPieces } from "./raw-server.ts";

const script = fileURLToPath(new URL("./address-scene.ts", import.meta.url));
const askAll = async (place: string, asked: readonly string[]): Promise<Readonly<Record<string, Asked>>> =>
  (await runInOwnNetwork(script, [place, ...asked], ownNetwork)) as Readonly<Record<string, Asked>>;

describe("on a machine with public addresses of its own, the proxy", () => {
  let all: Promise<Readonly<Record<string, Asked>>> | undefined;
  const outcomeOf = async (name: string): Promise<Asked | undefined> =>
    (await (all ??= askAll("proxy", [...Object.keys(names), nameOfUnlisted])))[name];

  it.each(Object.keys(names))("makes no connection for %s", async (name) => {
    const asked = await outcomeOf(name);
    expect(asked).toMatchObject({ connections: 0, bytes: 0 });
    expect(asked?.answer).toMatch(/^HTTP\/1\.1 (403|502) .*HTTP\/1\.1 (403|502) /s);
    // The first, public address leads nowhere, so it ends there; the later address is refused by its rule.
    const isPublicAtFirst = name.startsWith("rebind") || name.startsWith("mixed");
    expect(asked?.rules).toEqual(
      isPublicAtFirst ? (name.startsWith("rebind") ? ["private_address"] : []) : ["private_address", "private_address"],
    );
  });

  it("sends nothing on a connection to an address that turns out to be its own", async () => {
    expect(await outcomeOf(nameOfUnlisted)).toMatchObject({ bytes: 0, rules: ["private_address", "private_address"] });
  });
});

describe.each(engines)("on a machine with public addresses of its own, a sandbox of %s", (engine) => {
  useGlovebox(engine);
  const some = ["own.test", "nat.test", "rebind.test", "mixed.test", nameOfUnlisted];

  it("reaches none of its services, unless the operator trusts the name", async () => {
    const all = await askAll(engine, [...some, "trusted.test"]);
    for (const name of some) expect(all[name]).toMatchObject({ bytes: 0 });
    for (const name of some.slice(0, 4)) expect(all[name]).toMatchObject({ connections: 0 });
    expect(all["own.test"]).toMatchObject({ answer: "policy_denied ", rules: ["private_address"] });
    expect(all["nat.test"]).toMatchObject({ answer: "policy_denied ", rules: ["private_address"] });
    expect(all["rebind.test"]).toMatchObject({ answer: "failed ", rules: [] });
    expect(all["mixed.test"]).toMatchObject({ answer: "failed ", rules: [] });
    expect(all["trusted.test"]).toMatchObject({ answer: "completed SECRET\n", connections: 1 });
  });
});

describe("a connection that is being made when the policy changes", () => {
  const held = Promise.withResolvers<void>();
  const asking = Promise.withResolvers<void>();
  let dns: DnsServer;
  let web: RawServer;
  afterAll(() => {
    dns.close();
    web[Symbol.dispose]();
  });

  it("carries nothing", async () => {
    dns = await DnsServer.start(async () => {
      asking.resolve();
      await held.promise;
      return [{ a: "127.0.0.1" }];
    });
    web = await RawServer.start((_, socket) =>
      sendPieces(socket, ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nSECRET"]),
    );
    await using proxy = await ProxySubject.start({ dnsServer: dns.address });
    const { client, name, denials } = await proxy.open(`web.test:${web.port}`);
    const answer = client.ask(`GET http://web.test:${web.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await asking.promise;
    expect(await proxy.process.changePolicy(name, lockedPolicy)).toBe(true);
    held.resolve();
    expect((await answer).text).toMatch(/^HTTP\/1\.1 403 /);
    await proxy.process.flush();
    expect(denials).toMatchObject([{ rule: "locked" }]);
    expect(Buffer.concat(web.received).toString()).toBe("");
  });
});
