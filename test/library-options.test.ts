import { readFileSync } from "node:fs";
import { describe, expect, expectTypeOf, it } from "vitest";
import { writeLibraryTypes } from "../scripts/library-options/written-types.ts";
import type { Camel } from "../src/library/objects/camel.ts";
import type {
  CommandOptions,
  EnvironmentOptions,
  ExecuteOptions,
  ListAlertsOptions,
  ProcessOptions,
  PullImagesOptions,
  SessionOptions,
  SessionRunOptions,
} from "../src/library/objects/generated/options.ts";
import type { DoctorReport, ExecuteResult, Metrics, TestsResult } from "../src/library/objects/generated/results.ts";
import type { DoctorResponse } from "../src/operations/doctor-contract.ts";
import type { PullImagesRequest } from "../src/operations/images-contract.ts";
import type { GetMetricsResponse, ListAlertsRequest } from "../src/operations/metrics-contract.ts";
import type { RunTestsResponse } from "../src/operations/tests-contract.ts";
import type { CreateEnvironmentRequest, RunCommandRequest } from "../src/operations/environments-contract.ts";
import type { ExecuteRequest, ExecuteResponse } from "../src/operations/execute-contract.ts";
import type { StartProcessRequest } from "../src/operations/processes-contract.ts";
import type { RunCodeRequest, OpenSessionRequest } from "../src/operations/session-contract.ts";

/** Without what the formatter adds. */
const plain = (text: string): string => text.replaceAll(/[\s()|]/g, "");

/** Names at every depth; their types are then compared by assignability. */
type Names<Value> = Value extends readonly (infer Each)[]
  ? Names<Each>
  : Value extends object
    ? string extends keyof Value
      ? never
      : { [Name in keyof Value]-?: Name | Names<Exclude<Value[Name], undefined>> }[keyof Value]
    : never;

describe("the written types of the library's options", () => {
  const written = Object.entries(writeLibraryTypes());

  it.each(written)("are those of the schemas today: %s (node scripts/write-library-options.ts)", (name, text) => {
    const file = readFileSync(new URL(`../src/library/objects/generated/${name}`, import.meta.url), "utf8");
    expect(plain(file)).toBe(plain(text));
  });

  it("are all exported", () => {
    const index = readFileSync(new URL("../src/index.ts", import.meta.url), "utf8");
    const names = written.flatMap(([, text]) =>
      [...text.matchAll(/^export interface (\w+)/gm)].map(([, type]) => type),
    );
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(index))).toEqual([]);
  });

  it("speak of no field by the wire's name", () => {
    const comments = ["options.ts", "results.ts"].flatMap((name) => {
      const file = readFileSync(new URL(`../src/library/objects/generated/${name}`, import.meta.url), "utf8");
      return file.split("\n").filter((line) => line.trim().startsWith("/**"));
    });
    expect(comments.length).toBeGreaterThan(200);
    expect(comments.filter((line) => /(?:timeout_seconds|session_id|sandbox_id|env_id|memory_mb)/.test(line))).toEqual(
      [],
    );
  });

  it("have the names that the requests have, in camelCase, and no other", () => {
    expectTypeOf<Names<ExecuteOptions>>().toEqualTypeOf<Names<Camel<ExecuteRequest>>>();
    expectTypeOf<Names<SessionOptions>>().toEqualTypeOf<Names<Camel<OpenSessionRequest>>>();
    expectTypeOf<Names<SessionRunOptions>>().toEqualTypeOf<Exclude<Names<Camel<RunCodeRequest>>, "sessionId">>();
    expectTypeOf<Names<EnvironmentOptions>>().toEqualTypeOf<Names<Camel<CreateEnvironmentRequest>>>();
    expectTypeOf<Names<CommandOptions>>().toEqualTypeOf<Exclude<Names<Camel<RunCommandRequest>>, "envId">>();
    expectTypeOf<Names<ProcessOptions>>().toEqualTypeOf<
      Exclude<Names<Camel<StartProcessRequest>>, "envId" | "sessionId">
    >();
  });

  it("take what the requests take", () => {
    expectTypeOf<Camel<ExecuteRequest>>().toExtend<ExecuteOptions>();
    expectTypeOf<Camel<OpenSessionRequest>>().toExtend<SessionOptions>();
    expectTypeOf<Camel<RunCodeRequest>>().toExtend<SessionRunOptions>();
    expectTypeOf<Camel<CreateEnvironmentRequest>>().toExtend<EnvironmentOptions>();
    expectTypeOf<Camel<RunCommandRequest>>().toExtend<CommandOptions>();
    expectTypeOf<Camel<StartProcessRequest>>().toExtend<ProcessOptions>();
    expectTypeOf<Camel<ListAlertsRequest>>().toExtend<ListAlertsOptions>();
    expectTypeOf<Camel<PullImagesRequest>>().toExtend<PullImagesOptions>();
    // @ts-expect-error: limits have fields
    const wrong: ExecuteOptions = { language: "python", code: "", limits: "lots" };
    expect(wrong.limits).toBe("lots");
  });

  it("of results have the names that the answers have, in camelCase, and no other", () => {
    expectTypeOf<Names<ExecuteResult>>().toEqualTypeOf<Names<Camel<ExecuteResponse>>>();
    expectTypeOf<Names<TestsResult>>().toEqualTypeOf<Names<Camel<RunTestsResponse>>>();
    expectTypeOf<Names<DoctorReport>>().toEqualTypeOf<Names<Camel<DoctorResponse>>>();
    expectTypeOf<Names<Metrics>>().toEqualTypeOf<Names<Camel<GetMetricsResponse>>>();
  });
});
