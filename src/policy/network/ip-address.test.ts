import { describe, expect, it } from "vitest";
import { isWithinRange, parseAddressRange, parseAddress, addressKind, isOfThisMachine } from "./ip-address.ts";

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

describe("parseAddress", () => {
  it.each([
    ["1.2.3.4", [1, 2, 3, 4]],
    ["::", Array.from({ length: 16 }, () => 0)],
    ["::1", [...Array.from({ length: 15 }, () => 0), 1]],
    ["2001:db8::ff00:42:8329", [32, 1, 13, 184, 0, 0, 0, 0, 0, 0, 255, 0, 0, 66, 131, 41]],
    ["::ffff:1.2.3.4", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 1, 2, 3, 4]],
    ["fe80::1%eth0", [254, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
    ["1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
  ])("reads %s", (text, bytes) => {
    expect(parseAddress(text)).toEqual(bytes);
  });

  it.each([
    "",
    "1.2.3",
    "1.2.3.256",
    "01.2.3.4",
    "0x1.2.3.4",
    "1.2.3.4.5",
    "1.2.3.4 ",
    ":",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "12345::",
    "g::",
    "1.2.3.4::",
    "::1.2.3",
  ])("refuses %j", (text) => {
    expect(parseAddress(text)).toBeNull();
  });
});

describe("addressKind", () => {
  it.each([
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450::1",
    "64:ff9b::808:808",
  ])("%s is public", (address) => {
    expect(addressKind(address).reach).toBe("public");
  });

  it.each([
    "127.0.0.1",
    "127.255.255.254",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "100.127.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.80",
    "240.0.0.1",
    "::1",
    "fc00::1",
    "fdff::1",
    "2001:db8::1",
    "2001::1",
    "2001:2::1",
    "3fff::1",
    "5f00::1",
    "4000::1",
    "100::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:10.0.0.1",
    "::7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:808:808::1",
  ])("%s is private", (address) => {
    expect(addressKind(address).reach).toBe("private");
  });

  it.each([
    "169.254.169.254",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "0.0.0.0",
    "0.1.2.3",
    "224.0.0.1",
    "239.1.2.3",
    "255.255.255.255",
    "::",
    "fe80::1",
    "fe80::1%lo",
    "fd00:ec2::254",
    "ff02::1",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "not an address",
  ])("%s is for nobody", (address) => {
    expect(addressKind(address).reach).toBe("never");
  });
});

describe("isOfThisMachine", () => {
  const own = [parseAddressRange("9.9.9.9"), parseAddressRange("2620:fe::fe")].filter((range) => range !== null);
  it.each([
    ["127.0.0.1", true],
    ["127.200.0.9", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["64:ff9b::7f00:1", true],
    ["9.9.9.9", true],
    ["::ffff:9.9.9.9", true],
    ["2620:fe::fe", true],
    ["10.0.0.1", false],
    ["9.9.9.8", false],
    ["2620:fe::ff", false],
    ["nonsense", false],
  ])("%s: %j", (address, expected) => {
    expect(isOfThisMachine(address, own)).toBe(expected);
  });
});
