import { parseAddress, type AddressBytes } from "./ip-address.ts";

/** Addresses that begin with the same bits. */
export interface AddressRange {
  readonly bytes: AddressBytes;
  readonly bits: number;
}

/** `address` or `address/bits`; null for everything else. */
export function parseAddressRange(text: string): AddressRange | null {
  const [address = "", bits, ...rest] = text.split("/");
  const bytes = parseAddress(address);
  if (bytes === null || rest.length > 0 || address.includes("%")) return null;
  if (bits === undefined) return { bytes, bits: bytes.length * 8 };
  const isNumber = /^(?:0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= bytes.length * 8;
  return isNumber ? { bytes, bits: Number(bits) } : null;
}

export function isWithinRange(address: AddressBytes, { bytes, bits }: AddressRange): boolean {
  if (address.length !== bytes.length) return false;
  return bytes.every((byte, index) => {
    const counted = Math.min(8, Math.max(0, bits - index * 8));
    const mask = (0xff << (8 - counted)) & 0xff;
    return (byte & mask) === ((address[index] ?? 0) & mask);
  });
}
