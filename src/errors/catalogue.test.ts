import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorCatalogue } from "./catalogue.ts";

const document = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
const documented = [...document.matchAll(/^\| `([A-Z_]+)` *\|( *\d.+)\|$/gm)].map(([, name, cells = ""]) => {
  const [httpStatus, jsonRpcCode, retry, , suggestion] = cells.split("|").map((cell) => cell.trim());
  return [
    name,
    { httpStatus: Number(httpStatus), jsonRpcCode: Number(jsonRpcCode), retryable: retry === "yes", suggestion },
  ];
});

describe("the catalogue of errors", () => {
  it("is what docs/errors.md says, row by row", () => {
    expect(documented).toEqual(Object.entries(errorCatalogue));
  });

  it("has a JSON-RPC code of its own for each type", () => {
    const codes = Object.values(errorCatalogue).map((row) => row.jsonRpcCode);
    expect(new Set(codes).size).toBe(codes.length);
    // From -32000 to -32099 servers choose; these are JSON-RPC's own for the same thing.
    const outside = codes.filter((code) => code < -32_099 || code > -32_000);
    expect(outside).toEqual([-32_602, -32_601, -32_603]);
  });

  it("answers every type with an HTTP error status and a suggestion that is a sentence", () => {
    for (const row of Object.values(errorCatalogue)) {
      expect(row.httpStatus).toBeGreaterThanOrEqual(400);
      expect(row.httpStatus).toBeLessThan(600);
      expect(row.suggestion).toMatch(/^[A-Z].*\.$/);
    }
  });
});
