import { cpSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/index.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";

describe("test runs over HTTP", () => {
  useGlovebox("local");
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-http-")));
  let served: ServedGlovebox;
  beforeAll(async () => {
    cpSync(path.join(projectFolder, "test/fixtures/test-projects/unittest"), folder, { recursive: true });
    served = await serveGlovebox({ GLOVEBOX_PROJECT_ROOTS: folder });
  });
  afterAll(async () => {
    await served[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });
  const test = (request: object) => served.call("POST", "/api/sandbox/test", { project_path: folder, ...request });

  it("answer with the counts and the failures first, and leave the rest of the output to the log", async () => {
    const flood = "head -c 100000000 /dev/zero | tr '\\0' x | fold -w 5000";
    const { status, body } = await test({
      test_command: `${flood}; python3 -m unittest test_kinds.Kinds.test_passes; echo the end`,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ verdict: "passed", passed: 1, truncated: true, runners: ["unittest"] });
    const { sandbox_id: id } = body as { readonly sandbox_id: string };
    const log = await served.call("GET", `/api/sandbox/${id}/logs?tail=20`);
    expect(JSON.stringify(log.body)).toContain("the end");
  });

  it("run what failed again, by the names that an answer has", async () => {
    const first = await test({ test_command: "python3 -m unittest test_kinds" });
    expect(first.body).toMatchObject({ verdict: "failed", passed: 1, failed: 3, errors: 2 });
    const { failures } = first.body as { readonly failures: readonly { readonly name: string }[] };
    const only_tests = failures.map(({ name }) => name);
    const again = await test({ test_command: "python3 -m unittest test_kinds", only_tests });
    expect(again.body).toMatchObject({ verdict: "failed", passed: 0, failed: 3, errors: 2, skipped: 0 });
  });

  it("leave every test to be read later, though the answer does not have them", async () => {
    const { body } = await test({ test_command: "python3 -m unittest test_kinds" });
    expect(body).toMatchObject({ verdict: "failed", passed: 1, failed: 3, errors: 2, skipped: 1 });
    expect(body).not.toHaveProperty("report");
    const { sandbox_id: id } = body as { readonly sandbox_id: string };
    const kept = await served.call("GET", `/api/sandbox/${id}/tests`);
    expect(kept.body).toMatchObject({ sandbox_id: id });
    const { results } = JSON.parse((kept.body as { readonly ctrf: string }).ctrf) as {
      readonly results: { readonly summary: object; readonly tests: readonly object[] };
    };
    expect(results.summary).toMatchObject({ passed: 1, failed: 5, skipped: 1, tests: results.tests.length });
    expect(results.tests).toContainEqual(
      expect.objectContaining({ name: "test_kinds.Kinds.test_passes", status: "passed", filePath: "test_kinds.py" }),
    );
    const glovebox = connect({ url: served.url, key: served.token });
    expect(await glovebox.tests.report(id)).toBe((kept.body as { readonly ctrf: string }).ctrf);
    await served.call("DELETE", `/api/sandbox/${id}`);
    for (const gone of [id, "sbx-none"]) {
      expect(await served.call("GET", `/api/sandbox/${gone}/tests`)).toMatchObject({
        status: 404,
        body: { error_type: "NOT_FOUND" },
      });
    }
  });

  it("refuse a project that is larger than the sandbox's disk", async () => {
    writeFileSync(path.join(folder, "large"), "");
    truncateSync(path.join(folder, "large"), 40 * 1024 * 1024);
    const { status, body } = await test({ test_command: "true", limits: { disk_mb: 32 } });
    expect([status, body]).toEqual([403, expect.objectContaining({ error_type: "POLICY_DENIED" })]);
  });

  it.each([
    ["test_command", { test_command: " " }],
    ["report_file", { test_command: "true", report_file: "../report.xml" }],
    ["report_file", { test_command: "true", report_file: "." }],
    ["only_tests", { test_command: "true", only_tests: ["two\nlines"] }],
    ["only_tests", { test_command: "true", only_tests: ["x".repeat(20_000)] }],
  ])("refuse %s of a bad request by name", async (field, request) => {
    const { status, body } = await test(request);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(field);
  });
});
