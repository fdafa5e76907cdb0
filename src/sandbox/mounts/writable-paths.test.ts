import { expect, it } from "vitest";
import { labelledWritablePaths, writablePaths, writablePathsLabel } from "./writable-paths.ts";

const mount = (source: string, readOnly: boolean) => ({ source, target: "/workdir", readOnly });

it("tells other servers of the folders that may be written to, whatever their names", () => {
  const paths = writablePaths({ mounts: [mount("/a\n,b", false), mount("/c", true)] });
  expect(paths).toEqual(["/a\n,b"]);
  expect(labelledWritablePaths(writablePathsLabel(paths))).toEqual(paths);
});

it.each([{}, { "glovebox.writable-paths": "{" }, { "glovebox.writable-paths": '{"a":1}' }])(
  "reads nothing from %j",
  (labels: Readonly<Record<string, string>>) => {
    expect(labelledWritablePaths(labels)).toEqual([]);
  },
);
