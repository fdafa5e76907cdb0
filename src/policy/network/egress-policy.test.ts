import { describe, expect, it } from "vitest";
import { parseDomainPattern } from "./domain-names.ts";
import { allowAddresses, denyAuthority, denyTarget, lockedPolicy, type EgressPolicy } from "./egress-policy.ts";

const policyOf = (...domains: readonly string[]): EgressPolicy => ({
  name: "domains",
  allowed: domains.map((domain) => parseDomainPattern(domain, "network")),
  trusted: [{ name: "mirror.example", port: 4873 }],
  maxBytes: 1,
});

describe("denyTarget", () => {
  it("lets through what a rule allows", () => {
    expect(denyTarget(policyOf("a.example", "*.b.example"), { name: "x.b.example", port: 80 })).toBeNull();
  });

  it("names the host and what would allow it", () => {
    expect(denyTarget(policyOf("a.example"), { name: "b.example", port: 443 })).toMatchObject({
      target: "b.example:443",
      rule: "not_allowed",
      reason: expect.stringContaining("b.example"),
      remedy: 'The program chose this host: if you trust it, add "b.example" to the run\'s network.',
    });
    expect(denyTarget(policyOf("a.example"), { name: "a.example", port: 22 })).toMatchObject({
      rule: "port",
      reason: "a.example is allowed only at port 80 and 443.",
      remedy: 'The program chose this host: if you trust it, add "a.example:22" to the run\'s network.',
    });
  });

  it("says what is allowed beside the registries", () => {
    const policy = { ...policyOf("a.example"), name: "registries and domains" as const };
    expect(denyTarget(policy, { name: "b.example", port: 443 })?.reason).toBe(
      "The run's network policy allows only the package registries and the hosts that the run itself needs, and b.example is not one of them.",
    );
  });

  it("does not say that an installation's network could be extended", () => {
    const policy = { ...policyOf("npm.example"), name: "installing" as const };
    for (const target of [
      { name: "b.example", port: 443 },
      { name: "npm.example", port: 22 },
    ])
      expect(denyTarget(policy, target)).toMatchObject({
        rule: "not_allowed",
        reason: expect.stringContaining("only the package registries can be reached"),
        remedy: expect.stringMatching(/^Take the package from a registry, or use an image/),
      });
  });

  it("denies all when the installing phase is over, and says so", () => {
    expect(denyTarget(lockedPolicy, { name: "a.example", port: 443 })).toMatchObject({
      target: "a.example:443",
      rule: "locked",
      reason: expect.stringContaining("only while packages were installed"),
      remedy: 'The program chose this host: if you trust it, add "a.example" to the run\'s network.',
    });
  });

  it("denies all when the list is empty, trusted hosts too", () => {
    expect(denyTarget(policyOf(), { name: "mirror.example", port: 4873 })).toMatchObject({ rule: "not_allowed" });
  });
});

describe("denyAuthority", () => {
  it("shows no control character and nothing long", () => {
    const { target } = denyAuthority("name", `a\0\u001b[2J${"x".repeat(500)}`);
    expect(target).toMatch(/^a\?\?\[2Jx+$/);
    expect(target.length).toBe(100);
  });
});

describe("allowAddresses", () => {
  const host = { name: "a.example", port: 443 };
  const mirror = { name: "mirror.example", port: 4873 };

  it("drops the private addresses and keeps the public ones", () => {
    expect(allowAddresses(policyOf(), host, ["10.0.0.1", "1.1.1.1", "::1"], [])).toEqual(["1.1.1.1"]);
  });

  it("refuses a name with nothing else, and says who could allow it", () => {
    expect(allowAddresses(policyOf(), host, ["10.0.0.1", "::1"], [])).toMatchObject({
      target: "a.example:443",
      rule: "private_address",
      reason: expect.stringContaining("private; loopback"),
      remedy: 'The program chose this host: if the operator trusts it, add "a.example:443" to network.private_hosts.',
    });
  });

  it("lets a trusted host have private addresses at its own port only, and never the metadata service", () => {
    expect(allowAddresses(policyOf(), mirror, ["10.0.0.1", "169.254.169.254"], [])).toEqual(["10.0.0.1"]);
    expect(allowAddresses(policyOf(), { ...mirror, port: 80 }, ["10.0.0.1"], [])).toMatchObject({
      rule: "private_address",
    });
    expect(allowAddresses(policyOf(), mirror, ["169.254.169.254"], [])).toMatchObject({
      remedy: "Such addresses are never allowed.",
    });
  });

  it("has nothing to say of a name without an address", () => {
    expect(allowAddresses(policyOf(), host, [], [])).toEqual([]);
  });
});
