import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { isRegistry, parseImageReference, spellImage, spellRegistry } from "./image-reference.ts";
import { parseDomainPattern, type DomainPattern } from "./network/domain-names.ts";
import { namedDomains, type NetworkPolicy } from "./network/network.ts";

/** What a key does not allow, for the error that says so. */
interface Refusal {
  /** Field of the request. */
  readonly field: string;
  /** What was asked for. */
  readonly value: string;
  /** The rule of the key, as the options of `glovebox keys add` call it. */
  readonly rule: "engines" | "network";
  /** What the key allows. */
  readonly allowed: readonly string[];
}

/** The refusal of what a caller's API key does not allow. */
export function grantRefused({ field, value, rule, allowed }: Refusal): GloveboxError {
  const shown = JSON.stringify(value.slice(0, 200));
  const names = allowed.length === 0 ? "nothing" : allowed.slice(0, 20).join(", ");
  return new GloveboxError("POLICY_DENIED", `${field}: ${shown} is refused by the rule ${rule} of your API key.`, {
    suggestion: `Your key allows ${names}. What would allow it: a key that the operator makes with --${rule} ${value.slice(0, 200)}.`,
    context: { field, rule, value: value.slice(0, 200), allowed: allowed.slice(0, 20) },
  });
}

/** Ends an entry that stands for a whole registry. */
const everything = "/*";

/** What callers with an API key may name. */
interface GrantedImages {
  /** Images of the configuration; always allowed. */
  readonly configured: readonly string[];
  /** References, and registries as `HOST[:PORT]/*`. */
  readonly granted: readonly string[];
}

/** Checks one entry of a list of images: a reference, or a registry as `HOST[:PORT]/*`. @throws INVALID_REQUEST */
export function checkGrantedImage(entry: string, field: string): void {
  if (!entry.endsWith(everything)) {
    parseImageReference(entry, field);
    return;
  }
  const registry = entry.slice(0, -everything.length);
  if (isRegistry(registry) && (/[.:]/.test(registry) || registry === "localhost")) return;
  throw invalidField(field, "a registry such as registry.example:5000/*", entry);
}

/** Whether a list of images or registries has this image: by its whole name and tag or digest, or by host and port. */
export function isListedImage(image: string, listed: readonly string[]): boolean {
  const reference = parseImageReference(image);
  return listed.some((entry) => {
    if (!entry.endsWith(everything)) return spellImage(parseImageReference(entry)) === spellImage(reference);
    // An id says nothing of where its image is from.
    return reference.kind === "name" && spellRegistry(entry.slice(0, -everything.length)) === reference.registry;
  });
}

/**
 * Refuses an image that is neither configured nor listed (SPEC IM4): each image is network access, and those that the
 * engine has may hold what belongs to others.
 * @throws POLICY_DENIED naming the image, and what would allow it
 */
export function assertImageGranted(image: string, { configured, granted }: GrantedImages, field: string): void {
  if (isListedImage(image, configured) || isListedImage(image, granted)) return;
  const allowed = [...new Set([...configured, ...granted])].slice(0, 20);
  throw new GloveboxError(
    "POLICY_DENIED",
    `${field}: the image "${image}" is refused by the rule images of your API key.`,
    {
      suggestion: `Name one of ${allowed.join(", ")}. What would allow it: a key that the operator makes with --images ${image} (or its registry as HOST[:PORT]/*), or the setting images.allow.`,
      context: { field, rule: "images", value: image, allowed },
    },
  );
}

/** The words of `network` that a grant may name beside domains. */
const networkWords: ReadonlySet<string> = new Set(["none", "registries", "open"]);

/** Throws for an entry of a grant's networks that is neither a word of `network` nor a domain. @throws INVALID_REQUEST */
export function checkGrantedNetworks(granted: readonly string[], field: string): void {
  for (const entry of granted) if (!networkWords.has(entry)) parseDomainPattern(entry, field);
}

/**
 * Refuses a network policy that a grant does not cover: each domain must lie within one that is granted, ports included,
 * or `open` must be. `none` always passes; `registries` needs that word, since it may reach private hosts.
 * @throws POLICY_DENIED naming what is not covered
 */
export function assertNetworkGranted(policy: NetworkPolicy, granted: readonly string[], field = "network"): void {
  if (policy.kind === "none") return;
  const refuse = (value: string): never => {
    throw grantRefused({ field, value, rule: "network", allowed: ["none", ...granted.filter((it) => it !== "none")] });
  };
  if (policy.kind !== "domains" && !granted.includes(policy.kind)) refuse(policy.kind);
  if (granted.includes("open")) return;
  const domains = granted
    .filter((entry) => !networkWords.has(entry))
    .map((entry) => parseDomainPattern(entry, "network"));
  for (const asked of namedDomains(policy))
    if (!domains.some((domain) => covers(domain, asked))) refuse(wordsOf(asked));
}

/** Whether everything that `asked` stands for is something that `granted` stands for. */
function covers(granted: DomainPattern, asked: DomainPattern): boolean {
  if (!asked.ports.every((port) => granted.ports.includes(port))) return false;
  if (asked.name.endsWith(`.${granted.name}`)) return granted.subdomains;
  return asked.name === granted.name && asked.subdomains === granted.subdomains;
}

/** As a request writes it. */
function wordsOf({ name, subdomains, ports }: DomainPattern): string {
  const [port] = ports;
  return `${subdomains ? "*." : ""}${name}${ports.length === 1 ? `:${port}` : ""}`;
}
