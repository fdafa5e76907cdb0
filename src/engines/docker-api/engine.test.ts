import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { gvisorComponents, gvisorPrograms, parseGvisorVersion } from "./engine.ts";

it.each([
  ["runsc version release-20260824.0\nspec: 1.1.0-rc.1\n", "20260824.0"],
  ["runsc version 0.0~20221219.0\nspec: 1.0.2-dev\n", "20221219.0"],
  ["runsc version 573a9e73cf84", null],
  ["something else", null],
])("reads %j", (answer, version) => {
  expect(parseGvisorVersion(answer)).toBe(version);
});

it("finds it behind the runtimes that requests can have, and knows which of them is the default", () => {
  const Runtimes = {
    runc: { path: "runc" },
    runsc: { path: "/a/runsc" },
    sealed: { path: "/a/runsc" },
    gvisor: { path: "/b/runsc" },
  };
  const all = Object.keys(Runtimes);
  const other = { program: "/b/runsc", ociRuntime: "gvisor" };
  expect(gvisorPrograms({ Runtimes }, all)).toEqual([{ program: "/a/runsc", ociRuntime: "runsc" }, other]);
  expect(gvisorPrograms({ Runtimes, DefaultRuntime: "sealed" }, all)).toEqual([{ program: "/a/runsc" }, other]);
  expect(gvisorPrograms({ Runtimes, DefaultRuntime: "runc" }, ["runc"])).toEqual([]);
});

it("runs nothing that others than root could have put there", async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-runsc-"));
  const [program, ran] = [path.join(folder, "runsc"), path.join(folder, "ran")];
  writeFileSync(program, `#!/bin/sh\n: >${ran}\necho runsc version release-20200101.0\n`);
  chmodSync(program, 0o755);
  try {
    const Runtimes = { runsc: { path: program }, gvisor: { path: "runsc" }, runc: { path: "runc" } };
    expect(await gvisorComponents({ Runtimes }, Object.keys(Runtimes))).toEqual([]);
    expect(existsSync(ran)).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
