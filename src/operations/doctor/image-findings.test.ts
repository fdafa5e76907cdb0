import { describe, expect, it } from "vitest";
import { bunVersion } from "../../base/bun-packages.ts";
import { imageFindings } from "./image-findings.ts";

describe("imageFindings", () => {
  it.each([null, { "glovebox.bun": bunVersion }])("has nothing to say of %j", (labels) => {
    expect(imageFindings("docker", labels)).toEqual([]);
  });

  it.each([
    [{ "glovebox.bun": "1.0.0" }, "has Bun 1.0.0;"],
    [{}, "has a Bun that it does not name;"],
    [{ "glovebox.bun": "\u001b[2J" }, "has a Bun that it does not name;"],
    [{ "glovebox.bun": `1${"0".repeat(50)}` }, "has a Bun that it does not name;"],
  ])("tells of %j and of the command that renews it", (labels, what) => {
    const [finding, ...others] = imageFindings("podman", labels);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: "note", fix: expect.stringContaining("images build --engine podman") });
    expect(finding?.what).toContain(what);
    expect(finding?.what).toContain(bunVersion);
  });
});
