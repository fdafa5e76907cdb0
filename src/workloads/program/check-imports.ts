import type { ImportedPackages } from "../../packages/scan-request.ts";
import { checkPackages, type Ecosystem } from "../../policy/install-policy.ts";

/** Imported packages in the form of named ones. @throws INVALID_REQUEST */
export function checkImports({ needed, optional }: ImportedPackages, ecosystem: Ecosystem): ImportedPackages {
  return { needed: checkPackages(needed, ecosystem), optional: checkPackages(optional, ecosystem) };
}
