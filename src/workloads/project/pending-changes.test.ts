import { expect, it } from "vitest";
import { PendingChanges } from "./pending-changes.ts";

it("keeps the newest word on each path, and what changed again while it was sent", () => {
  const changes = new PendingChanges();
  changes.set("a", "put");
  changes.set("b", "put");
  changes.set("a", "gone");
  const { put, gone, done } = changes.take(10);
  expect({ put, gone }).toEqual({ put: ["b"], gone: ["a"] });
  changes.set("b", "put");
  done();
  expect(changes.take(10)).toMatchObject({ put: ["b"], gone: [] });
  changes.take(10).done();
  expect(changes.isEmpty).toBe(true);
});

it("keeps everything until it is sent", () => {
  const changes = new PendingChanges();
  changes.set("a", "put");
  changes.take(10);
  expect(changes.take(10).put).toEqual(["a"]);
});

it("sends folders before what is in them, and takes away what is in folders before them, after all else", () => {
  const changes = new PendingChanges();
  for (const path of ["old/deep/file", "old/deep", "old"])
    changes.set(path, path.endsWith("file") ? "gone" : "gone-folder");
  for (const path of ["new/deep/file", "new/deep", "new"]) changes.set(path, path.endsWith("file") ? "put" : "folder");
  const first = changes.take(4);
  expect(first).toMatchObject({ put: ["new", "new/deep", "new/deep/file"], gone: ["old/deep/file"], goneFolders: [] });
  first.done();
  expect(changes.take(4)).toMatchObject({ put: [], gone: [], goneFolders: ["old/deep", "old"] });
});
