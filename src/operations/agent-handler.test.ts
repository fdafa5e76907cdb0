import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { realFolder } from "./agent-handler.ts";

it("a folder is known by the folder's path without links, from wherever it is named", async () => {
  const home = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-agent-folder-")));
  mkdirSync(path.join(home, "shop"));
  symlinkSync("shop", path.join(home, "link"));
  const host = { homeDirectory: home, workingDirectory: path.join(home, "shop") };
  for (const given of [".", "../link", path.join(home, "link"), "~/shop", "~/link/."])
    expect(await realFolder(host, given), given).toBe(path.join(home, "shop"));
  expect(await realFolder(host, "../none")).toBe(path.join(home, "none"));
  rmSync(home, { recursive: true });
});
