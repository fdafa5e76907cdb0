import { nearest } from "../base/nearest.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { environmentName } from "./request/environment-variables.ts";
import { invalidValue } from "./request/invalid-value.ts";
import type { LimitKind } from "./limits.ts";

/** A secret that a deployment gives out by name. */
export interface SecretOffer {
  readonly name: string;
  /** Who may use it; null: everybody. */
  readonly principals: readonly string[] | null;
  /** For which kinds of sandbox; null: for all. */
  readonly kinds: readonly LimitKind[] | null;
}

/** Names of secrets, each given as a variable of its own name; or the secret's name by variable. */
export type RequestedSecrets = readonly string[] | Readonly<Record<string, string>>;

/** A variable that gets a secret's value. */
export interface ChosenSecret<Offer extends SecretOffer = SecretOffer> {
  readonly variable: string;
  readonly offer: Offer;
}

/** Variables that interpreters and libraries act on by themselves: no place for a secret, and a way round a guard. */
const governing =
  /^(?:PYTHON|NODE_(?!AUTH_TOKEN$)|BUN_(?!AUTH_TOKEN$)|LD_|DYLD_|GLIBC_TUNABLES$|GCONV_PATH$|OPENSSL_|SSLKEYLOGFILE$)/i;

/**
 * The secrets that a request names, among those that its sender may use.
 * @throws INVALID_REQUEST for a name that is not offered to it, with the names that are
 */
export function chooseSecrets<Offer extends SecretOffer>(
  requested: RequestedSecrets,
  offers: readonly Offer[],
  {
    principal,
    kind,
    taken,
  }: { readonly principal: string; readonly kind: LimitKind; readonly taken: readonly string[] },
): readonly ChosenSecret<Offer>[] {
  const usable = offers.filter(
    ({ principals, kinds }) => (principals?.includes(principal) ?? true) && (kinds?.includes(kind) ?? true),
  );
  const pairs = Array.isArray(requested)
    ? [...new Set(requested as readonly string[])].map((name) => [name, name] as const)
    : Object.entries(requested);
  return pairs.map(([variable, name]) => {
    const offer = usable.find((candidate) => candidate.name === name);
    if (offer === undefined) throw notOffered(name, usable);
    if (!environmentName.test(variable)) throw invalidValue("secrets", "expected names of variables, such as API_KEY");
    if (governing.test(variable)) {
      throw invalidValue(
        `secrets.${variable.slice(0, 80)}`,
        "expected a variable that no interpreter acts on by itself",
      );
    }
    if (taken.includes(variable)) {
      throw invalidValue(`secrets.${variable.slice(0, 80)}`, "expected a variable that `environment` does not set too");
    }
    return { variable, offer };
  });
}

/** The same words for a secret that does not exist and one that is not for the asker. */
function notOffered(name: string, usable: readonly SecretOffer[]): GloveboxError {
  const names = usable.map((offer) => offer.name);
  // What is no name may be a value that somebody put in its place.
  const shown = environmentName.test(name) && name.length <= 64 && nearest(name, names) !== null ? ` ${name}` : "";
  const choice = names.length === 0 ? "There are none that you may use" : `You may use: ${names.join(", ")}`;
  return new GloveboxError("INVALID_REQUEST", `secrets: there is no secret${shown} for you. ${choice}.`, {
    suggestion:
      names.length === 0
        ? "Ask the operator to configure it under `secrets` (docs/secrets.md), and to name it in your API key if you use one; never send the value itself."
        : "Name one of these, or ask the operator to configure it under `secrets`; never send the value itself.",
    context: { field: "secrets", valid: names },
  });
}
