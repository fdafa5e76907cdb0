import { describe, expect, it } from "vitest";
import { parseAuthority } from "./host-and-port.ts";

describe("parseAuthority", () => {
  it.each([
    ["example.com:443", { name: "example.com", port: 443 }],
    ["EXAMPLE.com:1", { name: "example.com", port: 1 }],
    ["example.com", { name: "example.com", port: 80 }],
    ["example.com:65535", { name: "example.com", port: 65_535 }],
  ])("reads %s", (text, expected) => {
    expect(parseAuthority(text, 80)).toEqual(expected);
  });

  it.each([
    ["127.0.0.1:80", "address"],
    ["[::1]:80", "address"],
    ["[::ffff:127.0.0.1]:80", "address"],
    ["::1", "address"],
    ["2130706433:80", "address"],
    ["017700000001:80", "address"],
    ["0x7f.1:80", "address"],
    ["127.0.0.1.:80", "address"],
    ["0X7F000001:80", "address"],
    ["example.com.:80", "name"],
    ["a\0b.example:80", "name"],
    ["user@example.com:80", "name"],
    [":80", "name"],
    ["example.com:", "port"],
    ["example.com:0", "port"],
    ["example.com:080", "port"],
    ["example.com:65536", "port"],
    ["example.com:8o", "port"],
    ["example.com:+80", "port"],
  ])("says of %j that its %s is wrong", (text, fault) => {
    expect(parseAuthority(text, 80)).toBe(fault);
  });

  it("demands a port where there is no default", () => {
    expect(parseAuthority("example.com", null)).toBe("port");
  });
});
