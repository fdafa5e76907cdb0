import { describe, expect, it } from "vitest";
import { parseNetwork } from "../policy/network/network.ts";
import { checkPackages } from "../policy/install-policy.ts";
import { parseGlobs } from "../policy/glob.ts";
import { checkArguments } from "../policy/request/requested-program.ts";
import { checkFileCount } from "../policy/request/context-files.ts";
import { checkEnvironment } from "../policy/request/environment-variables.ts";
import { sizedSchemaOf, type SizedSchema } from "./contract/parse-request.ts";
import * as maxima from "./contract/wire-values.ts";
import { operationTable } from "./table.ts";

/** Lists, and objects of any names, that have no maximum. */
function unbounded(schema: SizedSchema, path: string): string[] {
  const { type, items, properties = {}, additionalProperties: named, anyOf = [] } = schema;
  return [
    ...(type === "array" && schema.maxItems === undefined ? [path] : []),
    ...(typeof named === "object" && schema.maxProperties === undefined ? [path] : []),
    ...(items === undefined ? [] : unbounded(items, `${path}[]`)),
    ...Object.entries(properties).flatMap(([name, inner]) => unbounded(inner, `${path}.${name}`)),
    ...anyOf.flatMap((form) => unbounded(form, path)),
  ];
}

describe("what a request may have much of", () => {
  it.each(operationTable.map((contract) => [contract.name, contract] as const))("has a maximum: %s", (_, contract) => {
    const schema = sizedSchemaOf(contract.request);
    expect(unbounded(schema, contract.name)).toEqual([]);
    expect(schema.additionalProperties).toBe(false);
  });

  it("has the maximum of the layer that checks the rest of it", () => {
    const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);
    const domains = (count: number): string[] => names(count).map((name) => `${name}.example`);
    const checks: readonly (readonly [number, (count: number) => unknown])[] = [
      [maxima.maxContextFiles, (count) => checkFileCount(count, "files")],
      [
        maxima.maxEnvironmentEntries,
        (count) => checkEnvironment(Object.fromEntries(names(count).map((name) => [name, ""]))),
      ],
      [maxima.maxArguments, (count) => checkArguments(names(count))],
      [maxima.maxPackages, (count) => checkPackages(names(count), "npm")],
      [maxima.maxGlobs, (count) => parseGlobs(names(count))],
      [maxima.maxDomains, (count) => parseNetwork(domains(count))],
    ];
    for (const [max, check] of checks) {
      expect(() => check(max)).not.toThrow();
      expect(() => check(max + 1)).toThrow("at most");
    }
  });
});
