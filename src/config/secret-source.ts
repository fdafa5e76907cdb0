import type { SecretOffer } from "../policy/secrets.ts";

/** A secret and where its value is read at each use: never the value. */
export interface SecretSource extends SecretOffer {
  readonly from:
    | { readonly kind: "env"; readonly variable: string }
    /** Absolute, or from `~/`. */
    | { readonly kind: "file"; readonly path: string };
}
