import { describe, expect, it } from "vitest";
import { assertNetworkAllowed, namedDomains, parseNetwork, withDomains } from "./network.ts";

describe("parseNetwork", () => {
  it.each([
    [undefined, { kind: "none" }],
    ["none", { kind: "none" }],
    [[], { kind: "none" }],
    ["registries", { kind: "registries" }],
    ["open", { kind: "open" }],
    [
      ["A.example", "*.b.example:8443"],
      {
        kind: "domains",
        domains: [
          { name: "a.example", subdomains: false, ports: [80, 443] },
          { name: "b.example", subdomains: true, ports: [8443] },
        ],
      },
    ],
  ])("reads %j", (value, policy) => {
    expect(parseNetwork(value)).toEqual(policy);
  });

  it.each([
    ["None", "network"],
    ["host", "network"],
    ["", "network"],
    ["a.example", "network"],
    [true, "network"],
    [null, "network"],
    [{}, "network"],
    [Array.from({ length: 257 }, () => "a.example"), "network"],
    [["a.example", ""], "network[1]"],
    [[5], "network[0]"],
  ])("refuses %j", (value, field) => {
    expect(() => parseNetwork(value)).toThrow(
      expect.objectContaining({ errorType: "INVALID_REQUEST", context: { field } }),
    );
  });
});

describe("assertNetworkAllowed", () => {
  it.each(["none", "registries", ["a.example"]])("accepts %j", (value) => {
    expect(() => assertNetworkAllowed(parseNetwork(value), { allowOpen: false, upstreamResolves: true })).not.toThrow();
  });

  it("refuses open unless the deployment allows it, and names the setting", () => {
    const open = parseNetwork("open");
    expect(() => assertNetworkAllowed(open, { allowOpen: true, upstreamResolves: false })).not.toThrow();
    expect(() => assertNetworkAllowed(open, { allowOpen: true, upstreamResolves: true })).toThrow(
      expect.objectContaining({ context: expect.objectContaining({ setting: "network.upstream_resolves" }) }),
    );
    expect(() => assertNetworkAllowed(open, { allowOpen: false, upstreamResolves: false })).toThrow(
      expect.objectContaining({
        errorType: "POLICY_DENIED",
        suggestion: expect.stringContaining("GLOVEBOX_ALLOW_OPEN_NETWORK"),
        context: { field: "network", network: "open", setting: "network.allow_open" },
      }),
    );
  });
});

describe("withDomains", () => {
  const model = namedDomains(parseNetwork(["model.example"]));

  it.each([
    ["none", { kind: "domains", domains: model }],
    ["registries", { kind: "registries", beside: model }],
    ["open", { kind: "open", beside: model }],
    [["a.example"], { kind: "domains", domains: [...namedDomains(parseNetwork(["a.example"])), ...model] }],
  ])("adds domains to %j", (asked, policy) => {
    expect(withDomains(parseNetwork(asked), model)).toEqual(policy);
    expect(withDomains(parseNetwork(asked), [])).toEqual(parseNetwork(asked));
  });

  it("adds to what was added", () => {
    const twice = withDomains(withDomains(parseNetwork("open"), model), model);
    expect(namedDomains(twice)).toEqual([...model, ...model]);
  });
});
