import { describe, expect, it } from "vitest";
import { namedDomains, parseNetwork, withDomains } from "./network/network.ts";
import { assertNetworkGranted, checkGrantedNetworks } from "./granted-networks.ts";

const isGranted = (asked: unknown, granted: readonly string[], beside: readonly string[] = []): boolean => {
  try {
    assertNetworkGranted(withDomains(parseNetwork(asked), namedDomains(parseNetwork(beside))), granted);
    return true;
  } catch {
    return false;
  }
};

describe("the networks that a grant covers", () => {
  it.each([
    ["none", []],
    [[], []],
    ["registries", ["registries"]],
    ["open", ["open"]],
    [["example.com"], ["open"]],
    [["example.com"], ["example.com"]],
    [["example.com:443"], ["example.com"]],
    [["example.com:8443"], ["example.com:8443"]],
    [["a.example.com"], ["*.example.com"]],
    [["*.a.example.com"], ["*.example.com"]],
    [["*.example.com"], ["*.example.com"]],
    [["EXAMPLE.com"], ["example.COM"]],
  ])("%j within %j", (asked, granted) => {
    expect(isGranted(asked, granted)).toBe(true);
  });

  it.each([
    ["registries", []],
    ["registries", ["none"]],
    ["registries", ["open"]],
    ["open", ["registries"]],
    ["open", ["*.example.com"]],
    [["example.com"], []],
    [["example.com"], ["registries"]],
    [["example.com"], ["*.example.com"]],
    [["*.example.com"], ["example.com"]],
    [["a.example.com"], ["example.com"]],
    [["example.com:8443"], ["example.com"]],
    [["example.com"], ["example.com:443"]],
    [["badexample.com"], ["*.example.com"]],
    [["example.com.evil.org"], ["*.example.com", "example.com"]],
    [["example.com", "evil.org"], ["example.com"]],
  ])("%j not within %j", (asked, granted) => {
    expect(isGranted(asked, granted)).toBe(false);
  });

  it.each([
    ["registries", ["registries"], false],
    ["registries", ["model.example"], false],
    ["registries", ["registries", "model.example"], true],
    ["open", ["open"], true],
    ["open", ["registries", "model.example"], false],
  ])("%j with a domain beside it, granted %j: %s", (asked, granted, isCovered) => {
    expect(isGranted(asked, granted, ["model.example"])).toBe(isCovered);
  });

  it("a refusal names the rule, the value and what would allow it", () => {
    expect(() => assertNetworkGranted(parseNetwork(["evil.org"]), ["registries"])).toThrow(
      expect.objectContaining({
        errorType: "POLICY_DENIED",
        message: 'network: "evil.org" is refused by the rule network of your API key.',
        suggestion:
          "Your key allows none, registries. What would allow it: a key that the operator makes with --network evil.org.",
        context: { field: "network", rule: "network", value: "evil.org", allowed: ["none", "registries"] },
      }),
    );
  });

  it("an entry that is neither a word nor a domain is refused", () => {
    expect(() => checkGrantedNetworks(["none", "registries", "open", "*.example.com:8443"], "--network")).not.toThrow();
    expect(() => checkGrantedNetworks(["everything"], "--network")).toThrow(/--network/);
    expect(() => checkGrantedNetworks(["10.0.0.1"], "--network")).toThrow(/--network/);
  });
});
