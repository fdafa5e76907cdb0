import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { git } from "../../../test/helpers/git.ts";
import { until } from "../../../test/helpers/until.ts";
import { HostFolder } from "../../base/host-folder.ts";
import { IndexWatch } from "./live-copy.ts";

let folder: string;
let root: HostFolder;
let watch: IndexWatch;
let marks: number;
const at = (name: string): string => path.join(folder, name);

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  root = await HostFolder.open(folder, process.platform);
  marks = 0;
  watch = new IndexWatch(root, () => void (marks += 1));
});
afterEach(async () => {
  watch.close();
  await root[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

it("tells of files that git tracks from now on, and of none where the index is written with the same", async () => {
  git(folder, "init", "--quiet");
  for (const name of ["a", "b"]) writeFileSync(at(name), name);
  git(folder, "add", "a");
  await watch.refresh();
  expect(await watch.hasChanged()).toBe(false);
  git(folder, "add", "b");
  await until(() => marks > 0);
  expect(await watch.hasChanged()).toBe(true);
  expect(await watch.hasChanged()).toBe(false);
  marks = 0;
  utimesSync(at("a"), 1, 1);
  git(folder, "update-index", "--refresh");
  await until(() => marks > 0);
  expect(await watch.hasChanged()).toBe(false);
});

it("finds a repository that comes later, when everything is looked through", async () => {
  await watch.refresh();
  mkdirSync(at("sub"));
  git(folder, "init", "--quiet");
  writeFileSync(at("a"), "a");
  await watch.refresh();
  git(folder, "add", "a");
  await until(() => marks > 0);
  expect(await watch.hasChanged()).toBe(true);
});
