import { describe, expect, it } from "vitest";
import { namedDomains, parseNetwork, withDomains, type NetworkPolicy } from "../policy/network/network.ts";
import { SharedNetwork, type NetworkPart } from "./sandbox-network.ts";

const join = (network: SharedNetwork, policy: NetworkPolicy): NetworkPart =>
  network.join({ policy, onDenied: () => undefined, redact: (text) => text });
const none = parseNetwork("none");
const registries = parseNetwork("registries");

describe("SharedNetwork", () => {
  it("is one network for all that run at once, be it none", () => {
    const network = new SharedNetwork();
    const parts = [join(network, none), join(network, none)];
    for (const other of ["registries", "open", ["a.test"]]) {
      expect(() => join(network, parseNetwork(other))).toThrow(
        expect.objectContaining({
          errorType: "POLICY_DENIED",
          context: expect.objectContaining({ network: "none" }) as unknown,
        }),
      );
    }
    parts[0]?.leave();
    parts[0]?.leave();
    expect(() => join(network, registries)).toThrow("share one network");
    parts[1]?.leave();
    join(network, registries);
    expect(() => join(network, none)).toThrow('"registries"');
  });

  it("takes the same domains for the same network, in whatever order", () => {
    const network = new SharedNetwork();
    join(network, parseNetwork(["a.test", "*.b.test:8443"]));
    join(network, parseNetwork(["*.b.test:8443", "a.test"]));
    for (const other of [["a.test"], ["a.test", "b.test:8443"], ["a.test:80", "*.b.test:8443"]]) {
      expect(() => join(network, parseNetwork(other))).toThrow("another list of domains");
    }
  });

  it("tells the registries from the registries with domains beside them", () => {
    const network = new SharedNetwork();
    join(network, withDomains(registries, namedDomains(parseNetwork(["a.test"]))));
    join(network, withDomains(registries, namedDomains(parseNetwork(["a.test"]))));
    expect(() => join(network, registries)).toThrow("share one network");
    expect(() => join(network, parseNetwork(["a.test"]))).toThrow("share one network");
  });
});
