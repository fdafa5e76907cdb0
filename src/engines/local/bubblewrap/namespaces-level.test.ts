import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bubblewrapComponents, bubblewrapSetup } from "../local-engine.ts";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "glovebox-test-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

describe.runIf(process.platform === "linux")("bubblewrapSetup", () => {
  it("tells whether the tool gains root by its setuid bit", async () => {
    const tool = join(folder, "tool");
    writeFileSync(tool, "");
    chmodSync(tool, 0o755);
    expect(await bubblewrapSetup(tool)).toMatchObject({ inProcess: true, setuid: false });
    chmodSync(tool, 0o4755);
    // The bit gives the owner's power: root's, when root made the file.
    expect(await bubblewrapSetup(tool)).toMatchObject({ setuid: process.getuid?.() === 0 });
  });
});

describe("bubblewrapComponents", () => {
  it("takes the tool's own words apart", () => {
    expect(bubblewrapComponents("bubblewrap 0.8.0")).toEqual([{ name: "bubblewrap", version: "0.8.0" }]);
    expect(bubblewrapComponents("")).toEqual([]);
  });
});
