import { posix, win32 } from "node:path";
import { expect, it } from "vitest";
import { withRealFolders } from "./real-folders.ts";

const variables = { HOME: "/work", NODE_PATH: "/packages:/site", PYTHONPATH: "/same:/here", OTHER: "/work:/site" };

it("names the folders of Windows as its programs split them", () => {
  const real: Readonly<Record<string, string>> = { "/work": "C:\\w", "/packages": "C:\\p", "/site": "D:\\s" };
  const sandbox = { folderOf: (folder: string) => real[folder] ?? folder };
  expect(withRealFolders(variables, sandbox, win32.delimiter)).toEqual({
    ...variables,
    HOME: "C:\\w",
    NODE_PATH: "C:\\p;D:\\s",
  });
});

it("names those of other systems with a colon between them", () => {
  const sandbox = { folderOf: (folder: string) => (folder === "/same" ? folder : `/real${folder}`) };
  expect(withRealFolders(variables, sandbox, posix.delimiter)).toEqual({
    HOME: "/real/work",
    NODE_PATH: "/real/packages:/real/site",
    PYTHONPATH: "/same:/real/here",
    OTHER: "/work:/site",
  });
});
