import { expect, it } from "vitest";
import { parseGroupOwner } from "../group-owner.ts";
import { folderPrefix } from "./preload-level.ts";

it("a folder left behind names its maker", () => {
  const maker = { namespace: "4026531836", processId: 123, startTicks: "456" };
  expect(parseGroupOwner(`${folderPrefix(maker)}AbC`)).toEqual(maker);
  expect(parseGroupOwner(`${folderPrefix(null)}AbC`)).toBeNull();
});
