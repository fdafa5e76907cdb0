import type { CallOptions } from "../../engines/engine.ts";
import type { FindImportsInput } from "../../packages/imports/find-imports.ts";

/** Finds the packages that code imports. @throws INVALID_REQUEST, TIMEOUT, CANCELLED */
export type FindImports = (input: FindImportsInput, options: CallOptions) => Promise<readonly string[]>;
