import type { ArgumentChoice } from "./syscall-rule.ts";

/**
 * Files, FIFOs and sockets (0 means file), by the format bits of the mode: no character or block device, and nothing with
 * one of the refused bits.
 */
export function plainFile(argument: number, refusedBits = 0): ArgumentChoice {
  return {
    argument,
    mask: 0xf000 | refusedBits,
    cases: [{ values: [0, 0x1000, 0x8000, 0xc000], rule: "allow" }],
    otherwise: "EPERM",
  };
}
