import { expect, it } from "vitest";
import { doorFolder } from "./door-folder.ts";

const host = { temporaryDirectory: "/tmp", uid: 1000 };

it("is in the state folder, as long as the path of a socket there is not too long", () => {
  const short = "/home/someone/.local/state/glovebox";
  expect(doorFolder({ ...host, stateDirectory: short })).toBe(`${short}/doors`);
  const long = `/home/${"x".repeat(80)}/glovebox`;
  expect(doorFolder({ ...host, stateDirectory: long })).toBe("/tmp/glovebox-doors-1000");
  const edge = `/${"x".repeat(103 - 25 - "//doors".length)}`;
  expect(doorFolder({ ...host, stateDirectory: edge })).toBe(`${edge}/doors`);
  expect(doorFolder({ ...host, stateDirectory: `${edge}é` })).toBe("/tmp/glovebox-doors-1000");
});
