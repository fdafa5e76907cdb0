import type { CallOptions } from "../../engines/engine.ts";
import type { FindImportsInput } from "../../packages/find-imports.ts";
import type { ImportedPackages } from "../../packages/scan-request.ts";

/** Finds the packages that code imports. @throws INVALID_REQUEST, TIMEOUT, CANCELLED */
export type FindImports = (input: FindImportsInput, options: CallOptions) => Promise<ImportedPackages>;
