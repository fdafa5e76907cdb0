/** Last labels that no public name has: reserved by RFC 6761, 6762, 7686, 8375 and 9476, or never to be given away by ICANN. */
const reserved = new Set([
  ...["localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan"],
  ...["arpa", "invalid", "onion", "alt"],
]);

/** Whether a canonical name is certain not to be public: one of this machine, its network, or of nothing. */
export function isSpecialName(name: string): boolean {
  const labels = name.split(".");
  return labels.length < 2 || reserved.has(labels.at(-1) ?? "");
}
