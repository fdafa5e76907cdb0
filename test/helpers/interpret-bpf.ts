/** AUDIT_ARCH numbers, by the convention of a call. */
export const auditArchitecture = { x64: 0xc000_003e, arm64: 0xc000_00b7, i386: 0x4000_0003, arm: 0x4000_0028 };

/** What the kernel would answer, and after how many instructions. */
export function interpretBpf(
  filter: Uint8Array,
  audit: number,
  number: number,
  args: readonly bigint[],
): [string, number] {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, audit, true);
  for (const [index, value] of args.entries()) data.setBigUint64(16 + 8 * index, value, true);
  const program = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  let accumulator = 0;
  for (let at = 0, steps = 1; ; at += 1, steps += 1) {
    const [code, operand] = [program.getUint16(8 * at, true), program.getUint32(8 * at + 4, true)];
    const jump = (holds: boolean): number => program.getUint8(8 * at + (holds ? 2 : 3));
    if (code === 0x20) accumulator = data.getUint32(operand, true);
    else if (code === 0x54) accumulator = (accumulator & operand) >>> 0;
    else if (code === 0x05) at += operand;
    else if (code === 0x15) at += jump(accumulator === operand);
    else if (code === 0x35) at += jump(accumulator >= operand);
    else if (code !== 0x06) throw new Error(`unexpected operation ${code.toString(16)}`);
    else if (operand === 0x7fff_0000) return ["allow", steps];
    else if (operand >>> 16 === 0x0005) return [`errno ${operand & 0xffff}`, steps];
    else throw new Error(`unexpected verdict ${operand.toString(16)}`);
  }
}
