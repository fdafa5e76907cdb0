import { describe, expect, it } from "vitest";
import { SandboxHosts } from "./sandbox-ports.ts";

const domain = { scheme: "https", name: "e2b.example", port: null } as const;
const hosts = new SandboxHosts(domain, false);
const id = "i0123456789abcdefghjk";

describe("SandboxHosts", () => {
  it.each([
    [`3000-${id}.e2b.example`, { port: 3000, id, scheme: "https" }],
    [`3000-${id}.E2B.example:8443`, { port: 3000, id, scheme: "https" }],
    [`8000-${id}-client.e2b.example`, { port: 8000, id }],
    [`65535-${id}.localhost:8421`, { port: 65_535, id, scheme: "http" }],
  ])("reads %s", (host, expected) => {
    expect(hosts.read(host)).toMatchObject({ ...expected, authority: host.toLowerCase() });
  });

  it.each([
    undefined,
    "",
    `0-${id}.e2b.example`,
    `03000-${id}.e2b.example`,
    `65536-${id}.e2b.example`,
    `-1-${id}.e2b.example`,
    `3000-${id}.e2b.example.`,
    `3000-${id}.x.e2b.example`,
    `3000-${id}.evil.example`,
    `3000-${id}.e2b.example.evil.example`,
    `3000-${id}.e2b.example@evil.example`,
    `3000-${id}.e2b.example:8443:1`,
    `3000-${id}/..e2b.example`,
    `3000-.e2b.example`,
    `3000-${"a".repeat(5000)}.e2b.example`,
    "e2b.example",
    "api.e2b.example",
  ])("takes %s for none of a sandbox", (host) => {
    expect(hosts.read(host)).toBeNull();
  });

  it("knows below which name clients find ports", () => {
    expect(hosts.authority).toBe("e2b.example");
    expect(hosts.ownNames).toEqual(["e2b.example", "api.e2b.example", "sandbox.e2b.example"]);
    const plain = new SandboxHosts({ ...domain, scheme: "http" }, true);
    plain.listensAt(8421);
    expect(plain.authority).toBe("e2b.example:8421");
    const laptop = new SandboxHosts(null, true);
    laptop.listensAt(8421);
    expect(laptop.authority).toBe("localhost:8421");
    expect(laptop.read(`3000-${id}.e2b.example`)).toBeNull();
    const wide = new SandboxHosts(null, false);
    expect(wide.authority).toBeNull();
    expect([hosts, plain, wide, laptop].map(({ isLocal }) => isLocal)).toEqual([false, false, false, true]);
  });
});
