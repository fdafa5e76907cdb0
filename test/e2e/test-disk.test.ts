import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

const writesTooMuch = "dd if=/dev/zero of=/work/project/big bs=1M count=300; sleep 30";

describe.each(engines)("test runs on %s", (engine) => {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  afterAll(() => rmSync(folder, { recursive: true }));
  const glovebox = useGlovebox(engine, { workingDirectory: folder, settings: { images: sessionImages } });
  const project_path = path.join(folder, "project");
  mkdirSync(project_path);
  writeFileSync(path.join(project_path, "a.test.js"), 'require("node:test").test("passes", () => undefined);');

  it("have more scratch than memory, on disk, and say what bounds it", async () => {
    const fills = "dd if=/dev/zero of=/work/project/big bs=1M count=150 && dd if=/dev/zero of=/tmp/big bs=1M count=50";
    const limits = { memory_mb: 160, disk_mb: 400 };
    const response = await glovebox().test({ project_path, test_command: `${fills} && node --test`, limits });
    expect(response, response.output).toMatchObject({ verdict: "passed", passed: 1 });
    expect(response.warnings.join("\n")).toContain("scratch: on disk, 400 MiB");
  });

  it("end when they write more than that", async () => {
    const limits = { disk_mb: 64 };
    const response = await glovebox().test({ project_path, test_command: writesTooMuch, limits });
    expect(response).toMatchObject({ verdict: "could_not_run", outcome: "sandbox_lost", counted: false });
    expect(response.reason).toMatch(/took \d.* of disk, more than its limit of 64 MiB/);
    expect(response.error).toMatchObject({ error_type: "SANDBOX_LOST", context: { field: "limits.disk_mb" } });
  });
});
