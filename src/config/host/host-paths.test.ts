import { expect, it } from "vitest";
import { peerFolder } from "./host-paths.ts";

const host = { temporaryDirectory: "/tmp", uid: 1000 };

it("is in the state folder, as long as the path of a socket there is not too long", () => {
  const short = "/home/someone/.local/state/glovebox";
  expect(peerFolder({ ...host, stateDirectory: short })).toBe(`${short}/peers`);
  const long = `/home/${"x".repeat(80)}/glovebox`;
  expect(peerFolder({ ...host, stateDirectory: long })).toBe("/tmp/glovebox-peers-1000");
  const edge = `/${"x".repeat(103 - 25 - "//peers".length)}`;
  expect(peerFolder({ ...host, stateDirectory: edge })).toBe(`${edge}/peers`);
  expect(peerFolder({ ...host, stateDirectory: `${edge}é` })).toBe("/tmp/glovebox-peers-1000");
});
