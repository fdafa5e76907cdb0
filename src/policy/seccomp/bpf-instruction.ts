/** One `struct sock_filter` of classic BPF; jumps count the instructions that are skipped, at most 255. */
export interface BpfInstruction {
  readonly code: number;
  readonly jumpTrue: number;
  readonly jumpFalse: number;
  /** Unsigned 32 bits. */
  readonly operand: number;
}

/** Size of one encoded instruction. */
const instructionBytes = 8;

/** Linux's BPF_MAXINSNS. */
const maximumInstructions = 4096;

/** Little endian, as both architectures read it. Throws a RangeError for what the kernel would not take. */
export function encodeBpf(instructions: readonly BpfInstruction[]): Uint8Array {
  if (instructions.length > maximumInstructions) {
    throw new RangeError(`expected at most ${maximumInstructions} instructions, got ${instructions.length}`);
  }
  const bytes = new Uint8Array(instructions.length * instructionBytes);
  const view = new DataView(bytes.buffer);
  for (const [index, { code, jumpTrue, jumpFalse, operand }] of instructions.entries()) {
    if (jumpTrue > 255 || jumpFalse > 255) {
      throw new RangeError(`expected jumps of at most 255, got ${jumpTrue} and ${jumpFalse} at instruction ${index}`);
    }
    const offset = index * instructionBytes;
    view.setUint16(offset, code, true);
    view.setUint8(offset + 2, jumpTrue);
    view.setUint8(offset + 3, jumpFalse);
    view.setUint32(offset + 4, operand, true);
  }
  return bytes;
}
