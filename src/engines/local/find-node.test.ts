import { mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findOwnNode } from "./interpreters.ts";

const folder = mkdtempSync(path.join(tmpdir(), "glovebox-find-node-"));
afterAll(() => rmSync(folder, { recursive: true }));
const own = realpathSync(process.execPath);
const none = { PATH: folder };

describe.runIf(process.platform === "linux")("the Node that programs of sandboxes get", () => {
  it("is the one that runs Glovebox, by its real path", async () => {
    const link = path.join(folder, "node");
    symlinkSync(own, link);
    expect(await findOwnNode({ nodePath: link, environment: none })).toBe(own);
    rmSync(link);
  });

  it("is the one of the PATH where something else runs that, such as Bun", async () => {
    const environment = { PATH: path.dirname(own) };
    expect(await findOwnNode({ nodePath: "/bin/true", environment })).toBe(own);
  });

  it("is none where there is none", async () => {
    expect(await findOwnNode({ nodePath: "/no/such/node", environment: none })).toBeNull();
    expect(await findOwnNode({ nodePath: null, environment: { PATH: path.dirname(own) } })).toBeNull();
  });
});
