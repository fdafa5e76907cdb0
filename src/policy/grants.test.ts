import { describe, expect, it } from "vitest";
import {
  assertImageGranted,
  checkGrantedImage,
  isListedImage,
  assertNetworkGranted,
  checkGrantedNetworks,
} from "./grants.ts";
import { namedDomains, parseNetwork, withDomains } from "./network/network.ts";

const digest = `sha256:${"ab".repeat(32)}`;

describe("the images that a list has", () => {
  it.each([
    ["python:3.12", ["docker.io/library/python:3.12"]],
    ["docker.io/python:3.12", ["python:3.12"]],
    ["index.docker.io/library/python:3.12", ["python:3.12"]],
    ["python", ["python:latest"]],
    ["team/tool:1", ["docker.io/*"]],
    ["python", ["index.docker.io/*"]],
    ["registry.example:5000/x:1", ["registry.example:5000/*"]],
    ["REGISTRY.example:5000/x:1", ["registry.example:5000/*"]],
    ["registry.example:5000/x:1", ["Registry.Example:5000/*"]],
    ["localhost/x:1", ["localhost/*"]],
    ["[::1]:5000/x", ["[::1]:5000/*"]],
    [`x@${digest}`, [`docker.io/library/x@${digest}`]],
    [`x:other@${digest}`, [`x@${digest}`]],
    ["xn--bcher-kva.example/x", ["xn--bcher-kva.example/*"]],
    [digest, [digest]],
  ])("%s is in %j", (image, listed) => {
    expect(isListedImage(image, listed)).toBe(true);
  });

  it.each([
    ["python:3.12", []],
    ["python:3.12", ["python:3.13"]],
    ["python:3.12", ["python"]],
    ["localhost/python:3.12", ["python:3.12"]],
    ["python:3.12", ["localhost/python:3.12", "localhost/*"]],
    ["team/python", ["python"]],
    ["registry.example/x", ["registry.example:5000/*"]],
    ["registry.example:5000/x", ["registry.example/*"]],
    ["registry.example:5001/x", ["registry.example:5000/*"]],
    ["registry.example:50000/x", ["registry.example:5000/*"]],
    ["registry.example:443/x", ["registry.example/*"]],
    ["registry.example.evil.org/x", ["registry.example/*"]],
    ["evil.registry.example/x", ["registry.example/*"]],
    ["registry.example/x", ["docker.io/*"]],
    ["docker.io.evil.org/x", ["docker.io/*"]],
    ["registry-1.docker.io/library/python", ["docker.io/*"]],
    ["evil.org/registry.example/x", ["registry.example/*"]],
    ["evil.org:5000/docker.io/library/python", ["docker.io/*", "python"]],
    ["xn--bcher-kva.example/x", ["bucher.example/*"]],
    ["127.1:5000/x", ["127.0.0.1:5000/*"]],
    ["0x7f000001:5000/x", ["127.0.0.1:5000/*"]],
    ["2130706433:5000/x", ["127.0.0.1:5000/*"]],
    ["localhost:5000/x", ["127.0.0.1:5000/*", "localhost/*"]],
    [`x@${digest}`, ["x", "x:latest"]],
    ["x", [`x@${digest}`]],
    [digest, ["docker.io/*", "localhost/*"]],
  ])("%s is not in %j", (image, listed) => {
    expect(isListedImage(image, listed)).toBe(false);
  });

  it.each([
    "5",
    "deadbeef",
    "user@registry.example/x",
    "registry.example./x",
    "bücher.example/x",
    "registry.example:05000/x",
  ])("%s is in no list of registries", (image) => {
    const listed = ["registry.example/*", "registry.example:5000/*", "bucher.example/*"];
    expect(() => assertImageGranted(image, { configured: ["python"], granted: listed }, "image")).toThrow(/image/);
  });
});

describe("a list of images", () => {
  it("takes references and whole registries, nothing else", () => {
    for (const entry of ["python:3.13", "docker.io/*", "127.0.0.1:5000/*", "localhost/*", "team/tool", digest]) {
      expect(() => checkGrantedImage(entry, "--images"), entry).not.toThrow();
    }
    for (const entry of [
      "*",
      "/*",
      "team/*",
      "*.example/*",
      "registry.example/team/*",
      "python:*",
      "https://registry.example/*",
      "a@b.example/*",
      "b.example./*",
      "b.example:0/*",
      "b.example:99999/*",
      "",
    ]) {
      expect(() => checkGrantedImage(entry, "--images"), entry).toThrow(/--images/);
    }
  });
});

it("a refusal names the image, what is allowed, and what would allow more", () => {
  expect(() =>
    assertImageGranted("evil.org/x", { configured: ["python:3.12-slim"], granted: ["docker.io/*"] }, "image"),
  ).toThrow(
    expect.objectContaining({
      errorType: "POLICY_DENIED",
      message: 'image: the image "evil.org/x" is refused by the rule images of your API key.',
      suggestion:
        "Name one of python:3.12-slim, docker.io/*. What would allow it: a key that the operator makes with --images evil.org/x (or its registry as HOST[:PORT]/*), or the setting images.allow.",
      context: { field: "image", rule: "images", value: "evil.org/x", allowed: ["python:3.12-slim", "docker.io/*"] },
    }),
  );
});

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
