import { expect, it } from "vitest";
import { proxyAddress } from "./proxy-address.ts";

it.each([
  ["linux", "/tmp", "\0egress-1"],
  ["darwin", "/var/folders/ab/T", "/var/folders/ab/T/egress-1.sock"],
  ["win32", "C:\\Users\\ann\\AppData\\Local\\Temp", "\\\\.\\pipe\\egress-1"],
] as const)("is what %s has for processes of one machine", (platform, temporaryDirectory, address) => {
  expect(proxyAddress("egress-1", { platform, temporaryDirectory })).toBe(address);
});
