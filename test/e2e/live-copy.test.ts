import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import { createId } from "../../src/base/id.ts";
import { SandboxFiles } from "../../src/sandbox/files/sandbox-files.ts";
import { openPlace } from "../../src/sandbox/mounts/open-place.ts";
import { LiveCopy, type CopyProblem } from "../../src/workloads/project/live-copy.ts";
import { Scene } from "../engine-contract/scene.ts";
import { SharedContainer } from "../engine-contract/shared-container.ts";
import { subjects } from "../engine-contract/subjects.ts";
import { skipOrFail } from "../helpers/require.ts";
import { until } from "../helpers/until.ts";

/** Checksums of all files except those that are left out, sorted by name. */
const sums =
  "find . -type d '(' -name .git -o -name node_modules ')' -prune -o -type f -exec cksum {} + | LC_ALL=C sort -k3";

function git(folder: string, ...words: readonly string[]): void {
  const who = ["-c", "user.name=test", "-c", "user.email=test@example.org"];
  execFileSync("git", ["-C", folder, ...who, ...words], { stdio: "pipe" });
}

function put(folder: string, name: string, text: string): void {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), text);
}

/** 10,000 files on one branch; on the other a quarter differs, and folders have been added and removed. */
function makeRepository(folder: string): void {
  const nameOf = (n: number): string => `part-${n % 20}/module-${n % 500}/file-${n}.js`;
  git(folder, "init", "-q", "-b", "main");
  put(folder, ".gitignore", "node_modules/\n");
  for (let n = 0; n < 10_000; n += 1) put(folder, nameOf(n), `${n} `.repeat(100));
  git(folder, "add", "-A");
  git(folder, "commit", "-qm", "main");
  git(folder, "checkout", "-qb", "other");
  for (let n = 0; n < 10_000; n += 4) put(folder, nameOf(n), `other ${n}`);
  git(folder, "rm", "-rqf", "part-1");
  for (let n = 0; n < 1_000; n += 1) put(folder, `new/${n % 50}/${n}`, "new");
  git(folder, "add", "-A");
  git(folder, "commit", "-qm", "other");
  git(folder, "checkout", "-q", "main");
  for (let n = 0; n < 20_000; n += 1) put(folder, `node_modules/package-${n % 1_000}/${n}`, "");
}

describe.each(["docker", "local"] as const)("a live copy of 10,000 files on %s", (name) => {
  it("follows from branch to branch and back", { timeout: 600_000 }, async (context) => {
    const subject = subjects[name];
    const engine = await subject.make();
    const probe = await engine.probe();
    if (!probe.available) return skipOrFail(context, name, probe.reason);
    const folder = mkdtempSync(path.join(tmpdir(), "glovebox-test-"));
    const scratch = [{ path: "/work", sizeBytes: 256 * mebibyte }];
    try {
      makeRepository(folder);
      const { capabilities } = probe;
      await using scene = new Scene({
        engine,
        subject,
        capabilities,
        owner: createId("own"),
        shared: new SharedContainer(),
      });
      const container = await scene.idle({
        image: subject.images.python,
        scratch,
        limits: { memoryBytes: 512 * mebibyte },
      });
      await using project = await openPlace(folder, process.platform);
      if (project === null) throw new Error("The project was not opened.");
      const problems: CopyProblem[] = [];
      await using _ = await LiveCopy.open({
        ...{ project, includeIgnored: false, maxBytes: 100 * mebibyte, target: "/work/project" },
        ...{ platform: process.platform, files: new SandboxFiles(container, capabilities) },
        monotonicMs: () => performance.now(),
        onProblem: (problem) => void problems.push(problem),
        signal: new AbortController().signal,
      });
      const inside = async (): Promise<string> =>
        (await scene.run(container, ["sh", "-c", `cd /work/project && ${sums}`])).stdout.toString();
      const here = (): string => execFileSync("sh", ["-c", sums], { cwd: folder, maxBuffer: 16 * mebibyte }).toString();
      expect(here().split("\n").length).toBeGreaterThan(10_000);
      for (const branch of ["main", "other", "main"]) {
        git(folder, "checkout", "-q", branch);
        const expected = here();
        await until(async () => (await inside()) === expected);
      }
      expect(problems).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
      await engine.close();
    }
  });
});
