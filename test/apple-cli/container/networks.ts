import { CommandError } from "../output/command-error.ts";

export interface NetworkRequest {
  readonly network: string;
  readonly mtu: number;
  readonly macAddress?: string;
}

const defaultMtu = 1280;

function readNetwork(text: string): NetworkRequest {
  const [network = "", ...properties] = text.split(",");
  let mtu = defaultMtu;
  let macAddress: string | undefined;
  for (const property of properties) {
    const [key = "", value = ""] = property.split("=");
    if (key === "mac" && /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(value)) macAddress = value;
    else if (key === "mtu" && /^\d+$/.test(value) && Number(value) >= defaultMtu && Number(value) <= 65_535) {
      mtu = Number(value);
    } else throw new CommandError("invalidArgument", `invalid network property '${property}' in '${text}'`);
  }
  return { network, mtu, ...(macAddress === undefined ? {} : { macAddress }) };
}

/** `<name>[,mac=..][,mtu=..]`; `none` alone means no network, no option at all means the built-in one. */
export function readNetworks(texts: readonly string[]): readonly NetworkRequest[] {
  if (texts.length === 0) return [{ network: "default", mtu: defaultMtu }];
  if (!texts.includes("none")) return texts.map(readNetwork);
  if (texts.length === 1) return [];
  throw new CommandError("unsupported", "no other networks may be created along with network none");
}
