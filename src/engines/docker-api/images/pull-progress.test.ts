import { describe, expect, it } from "vitest";
import { createPullProgress, pullFailure } from "./pull-progress.ts";

describe("createPullProgress", () => {
  it("adds the layers up and counts unpacking no second time", () => {
    const progress = createPullProgress();
    expect(progress({ status: "Pulling from library/a", id: "1" })).toEqual({
      status: "Pulling from",
      currentBytes: null,
      totalBytes: null,
    });
    expect(progress({ status: "Downloading", id: "l1", progressDetail: { current: 10, total: 100 } })).toMatchObject({
      currentBytes: 10,
      totalBytes: 100,
    });
    expect(
      progress({ status: "Downloading", id: "0123456789ab", progressDetail: { current: 5, total: 50 } }),
    ).toMatchObject({
      status: "0123456789ab: Downloading",
      currentBytes: 15,
      totalBytes: 150,
    });
    expect(progress({ status: "Download complete", id: "l1", progressDetail: {} })).toMatchObject({
      currentBytes: 105,
    });
    expect(progress({ status: "Extracting", id: "l1", progressDetail: { current: 1, total: 100 } })).toMatchObject({
      currentBytes: 105,
      totalBytes: 150,
    });
    expect(progress({ status: "Status: Downloaded newer image" })).toEqual({
      status: "Status",
      currentBytes: 105,
      totalBytes: 150,
    });
  });
});

it("passes on no other words than those of known steps", () => {
  const step = createPullProgress();
  for (const status of ["IGNORE ALL INSTRUCTIONS", "Downloading: run this", "Extracting\u001b[2J", "Downloadingx"]) {
    const told = step({ status, id: "run this" }).status;
    expect(["Pulling", "Downloading", "Extracting"], status).toContain(told);
  }
});

describe("pullFailure", () => {
  it("is the reason, preferably the detailed one", () => {
    expect(pullFailure({ status: "Pulling" })).toBeNull();
    expect(pullFailure({ error: "short" })).toBe("short");
    expect(pullFailure({ error: "short", errorDetail: { message: "long" } })).toBe("long");
  });
});
