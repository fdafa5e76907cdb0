import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { executeCodeContract, type ExecuteRequest, type ExecuteResponse } from "../../operations/execute-contract.ts";
import { doctorResponseSchema } from "../../operations/doctor-contract.ts";
import { operationTable } from "../../operations/table.ts";
import { toCamelNames, toCamelPath, toCamelText, toWireNames, type Camel, type CamelName } from "./camel.ts";

const { request, response } = executeCodeContract;

describe("a request on its way to the wire", () => {
  it("has the wire's names at every depth, and the keys of its maps as they were", () => {
    const given = {
      language: "python",
      contextFiles: ["data_file.csv", { path: "a_b.txt", content: "some_text" }],
      environment: { someName: "aValue", some_name: "a_value", __proto__Like: "x" },
      secrets: { apiKey: "openai_key" },
      limits: { memoryMb: 256, timeoutSeconds: 5 },
      minIsolation: "container",
      network: ["my_host.example"],
    };
    expect(toWireNames(given, request)).toEqual({
      language: "python",
      context_files: ["data_file.csv", { path: "a_b.txt", content: "some_text" }],
      environment: { someName: "aValue", some_name: "a_value", __proto__Like: "x" },
      secrets: { apiKey: "openai_key" },
      limits: { memory_mb: 256, timeout_seconds: 5 },
      min_isolation: "container",
      network: ["my_host.example"],
    });
  });

  it.each([
    [{ timeout_seconds: 5 }, "timeoutSeconds"],
    [{ limits: { memory_mb: 5 } }, "memoryMb"],
  ])("refuses the wire's own name: %j", (given, name) => {
    expect(() => toWireNames(given, request)).toThrow(new RegExp(`the name ${name}`));
  });

  it("keeps names that it does not know, for the check that follows, and values of another kind", () => {
    expect(toWireNames({ noSuchThing: 1, limits: "lots" }, request)).toEqual({ noSuchThing: 1, limits: "lots" });
    expect(toWireNames("text", request)).toBe("text");
  });

  it("takes a key named __proto__ as a key like others", () => {
    const given: unknown = JSON.parse('{"environment": {"__proto__": "x"}, "__proto__": {"polluted": true}}');
    const wire = toWireNames(given, request) as Record<string, unknown>;
    expect(Object.keys(wire)).toEqual(["environment", "__proto__"]);
    expect(Object.getPrototypeOf(wire)).toBe(Object.prototype);
    expect(wire["polluted"]).toBeUndefined();
  });
});

describe("a response on its way from the wire", () => {
  it("has camelCase names at every depth, and its maps as they were", () => {
    const wire = {
      ...{ outcome: "failed", exit_code: 1, stdout: "exit_code", duration_ms: 1 },
      error: { error_type: "TIMEOUT", message: "m", suggestion: "s", context: { max_bytes: { kept_as: 1 } } },
      artifacts: [{ path: "a_b", size_bytes: 1, media_type: "text/plain", content: "x" }],
    };
    expect(toCamelNames(wire as unknown as ExecuteResponse, response)).toEqual({
      ...{ outcome: "failed", exitCode: 1, stdout: "exit_code", durationMs: 1 },
      error: { errorType: "TIMEOUT", message: "m", suggestion: "s", context: { max_bytes: { kept_as: 1 } } },
      artifacts: [{ path: "a_b", sizeBytes: 1, mediaType: "text/plain", content: "x" }],
    });
  });

  it("keeps the keys of a map of text and values that may be anything", () => {
    const engines = [{ name: "docker", capabilities: { memory_limit: "yes" }, how_to_start: "x" }];
    const settings = [{ key: "max_containers", value: { deep_key: 1 } }];
    const given = { engines, configuration: { settings } } as unknown as z.output<typeof doctorResponseSchema>;
    expect(toCamelNames(given, doctorResponseSchema)).toEqual({
      engines: [{ name: "docker", capabilities: { memory_limit: "yes" }, howToStart: "x" }],
      configuration: { settings },
    });
  });
});

describe("a path in an error", () => {
  it.each([
    ["limits.memory_mb", "limits.memoryMb"],
    ["context_files[2].path", "contextFiles[2].path"],
    ["environment.my_name", "environment.my_name"],
    ["no_such_field", "no_such_field"],
  ])("%s is %s", (wire, camel) => {
    expect(toCamelPath(wire, request)).toBe(camel);
  });
});

describe("every operation", () => {
  // Out of camelCase there must be one way back, and what is a map must not also be an object with fields.
  it.each(operationTable.map((contract) => [contract.name, contract] as const))("%s can be recased", (_, contract) => {
    for (const schema of [contract.request, contract.response]) {
      const json = JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
      const names = [...json.matchAll(/"([a-z][a-z0-9]*(?:_[a-z0-9]+)+)":/g)].map(([, name = ""]) => name);
      expect(names.filter((name) => /_[0-9]|__/.test(name))).toEqual([]);
    }
  });
});

it("types are recased like values", () => {
  expectTypeOf<CamelName<"min_isolation_level">>().toEqualTypeOf<"minIsolationLevel">();
  expectTypeOf<Camel<{ a_b: { c_d: readonly { e_f: 1 }[] }; g?: string }>>().toEqualTypeOf<{
    aB: { cD: readonly { eF: 1 }[] };
    g?: string;
  }>();
  expectTypeOf<Camel<{ context_map: Record<string, { a_b: 1 }>; x_y: unknown }>>().toEqualTypeOf<{
    contextMap: Record<string, { a_b: 1 }>;
    xY: unknown;
  }>();
  expectTypeOf<Camel<ExecuteResponse>["artifacts"]>().toEqualTypeOf<
    Camel<NonNullable<ExecuteResponse["artifacts"]>[number]>[] | undefined
  >();
  // @ts-expect-error: limits have fields
  const wrong: Camel<ExecuteRequest> = { language: "python", code: "", limits: "lots" };
  expect(toWireNames(wrong, request)).toMatchObject({ limits: "lots" });
});

it("a suggestion names the fields of requests as the library does, and other words as they are", () => {
  const text = "Raise timeout_seconds (at most 60 s) or limits.memory_mb; read_logs has more.";
  expect(toCamelText(text, request)).toBe(
    "Raise timeoutSeconds (at most 60 s) or limits.memoryMb; read_logs has more.",
  );
});
