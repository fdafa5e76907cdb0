import { describe, expect, it } from "vitest";
import { compareVersions, parseUpstreamVersion, type UpstreamVersion } from "./upstream-version.ts";

function parsed(text: string): UpstreamVersion {
  const version = parseUpstreamVersion(text);
  if (version === null) throw new Error(`${text} is no version`);
  return version;
}

describe("parseUpstreamVersion", () => {
  it.each([
    ["1.1.12", "1.1.12", null, ""],
    ["v1.7.27", "1.7.27", null, ""],
    ["1.1.5+ds1", "1.1.5", null, "+ds1"],
    ["1.1.5+ds1-1+deb12u1", "1.1.5", null, "+ds1-1+deb12u1"],
    ["20.10.24+dfsg1", "20.10.24", null, "+dfsg1"],
    ["1.6.20~ds1", "1.6.20", null, "~ds1"],
    ["1.1.12-0ubuntu2~22.04.1", "1.1.12", null, "-0ubuntu2~22.04.1"],
    ["4.9.4-rhel", "4.9.4", null, "-rhel"],
    ["1:4.9.4", "4.9.4", null, ""],
    ["1.2.0-rc.1", "1.2.0", "rc1", ""],
    ["1.0.0-rc95", "1.0.0", "rc95", ""],
    ["1.0.0~rc95+ds1", "1.0.0", "rc95", "+ds1"],
    ["26.0.0-rc1", "26.0.0", "rc1", ""],
    ["1.3.0+dev", "1.3.0", "dev0", ""],
    ["2.1.0-beta.0", "2.1.0", "beta0", ""],
    ["1.27", "1.27", null, ""],
  ])("reads %s", (text, numbers, preRelease, suffix) => {
    const version = parsed(text);
    expect(version.numbers.join(".")).toBe(numbers);
    expect(version.preRelease && `${version.preRelease.stage}${version.preRelease.number}`).toBe(preRelease);
    expect(version.suffix).toBe(suffix);
  });

  it.each(["", "unknown", "dev", "-1.0"])("finds none in %j", (text) => {
    expect(parseUpstreamVersion(text)).toBeNull();
  });
});

describe("compareVersions", () => {
  it("puts versions in upstream's order", () => {
    const inOrder = [
      "0.9",
      "1.0.0-rc93",
      "1.0.0~rc95+ds1",
      "1.0.0",
      "1.1.5+ds1",
      "1.1.12",
      "1.2.0+dev",
      "1.2.0-alpha",
      "1.2.0-beta.2",
      "1.2.0-rc.1",
      "1.2",
      "1.10.0",
      "20.10.24+dfsg1",
    ];
    const shuffled = inOrder.toReversed();
    expect(shuffled.toSorted((a, b) => compareVersions(parsed(a), parsed(b)))).toEqual(inOrder);
  });

  it("takes a package of a version for that version", () => {
    expect(compareVersions(parsed("1.1.12"), parsed("1.1.12+ds1-3"))).toBe(0);
    expect(compareVersions(parsed("1.27"), parsed("1.27.0"))).toBe(0);
    expect(compareVersions(parsed("1.6.20~ds1"), parsed("1.6.20"))).toBe(0);
  });
});
