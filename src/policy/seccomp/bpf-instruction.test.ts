import { describe, expect, it } from "vitest";
import { encodeBpf } from "./bpf-instruction.ts";

const returnZero = { code: 0x06, jumpTrue: 0, jumpFalse: 0, operand: 0 };

describe("encodeBpf", () => {
  it("lays an instruction out as the kernel's struct, little endian", () => {
    const bytes = encodeBpf([{ code: 0x15, jumpTrue: 2, jumpFalse: 255, operand: 0xc000_003e }]);
    expect([...bytes]).toEqual([0x15, 0, 2, 255, 0x3e, 0, 0, 0xc0]);
  });

  it("refuses a jump that eight bits cannot hold", () => {
    expect(() => encodeBpf([{ ...returnZero, jumpTrue: 256 }])).toThrow(RangeError);
    expect(() => encodeBpf([{ ...returnZero, jumpFalse: 256 }])).toThrow(RangeError);
  });

  it("takes as many instructions as the kernel does and no more", () => {
    const most = Array.from({ length: 4096 }, () => returnZero);
    expect(encodeBpf(most)).toHaveLength(8 * 4096);
    expect(() => encodeBpf([...most, returnZero])).toThrow("expected at most 4096 instructions, got 4097");
  });
});
