import { expect, it } from "vitest";
import { unmitigated } from "./kernel-settings.ts";

it("tells the faults of the processor that reach from one program into another", () => {
  const states = [
    ["l1tf", "Vulnerable; SMT vulnerable"],
    ["mds", "Mitigation: Clear CPU buffers; SMT Host state unknown"],
    ["meltdown", "Not affected"],
    ["spec_store_bypass", "Vulnerable"],
    ["spectre_v1", "Vulnerable: __user pointer sanitization disabled"],
    ["unreadable", null],
  ] as const;
  expect(unmitigated(states)).toEqual(["l1tf"]);
});
