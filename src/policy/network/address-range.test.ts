import { describe, expect, it } from "vitest";
import { isWithinRange, parseAddressRange } from "./address-range.ts";
import { parseAddress } from "./ip-address.ts";

describe("an address range", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7", true],
    ["203.0.113.7", "203.0.113.8", false],
    ["203.0.113.0/24", "203.0.113.255", true],
    ["203.0.113.0/25", "203.0.113.128", false],
    ["0.0.0.0/0", "8.8.8.8", true],
    ["2001:db8::/33", "2001:db8:7fff::1", true],
    ["2001:db8::/33", "2001:db8:8000::1", false],
    ["0.0.0.0/0", "::1", false],
  ])("%s has %s: %s", (range, address, isWithin) => {
    expect(isWithinRange(parseAddress(address)!, parseAddressRange(range)!)).toBe(isWithin);
  });

  it.each([
    "",
    "203.0.113",
    "203.0.113.0/33",
    "203.0.113.0/",
    "203.0.113.0/08",
    "::/129",
    "::1%lo",
    "1.2.3.4/8/8",
    "x",
  ])("is not %j", (text) => {
    expect(parseAddressRange(text)).toBeNull();
  });
});
