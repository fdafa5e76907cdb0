import { expect, it, describe } from "vitest";
import {
  labelledWritablePaths,
  writablePaths,
  writablePathsLabel,
  isLeftOver,
  isOwnContainer,
} from "./sandbox-plan.ts";
import { createId } from "../base/id.ts";
import { labels } from "../engines/labels.ts";

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

const nowMs = Date.parse("2026-11-22T12:00:00Z");
const over = { [labels.expiresAt]: "2026-11-22T11:59:59Z" };
const ahead = { [labels.expiresAt]: "2026-11-22T12:00:01Z" };

describe("what is left over", () => {
  it.each([
    ["a living owner's, whatever the time", "living", over, false, false],
    ["a gone owner's, though its time is not over", "expired", ahead, false, true],
    ["a gone owner's that still runs", "expired", ahead, true, true],
    ["an unknown owner's whose time is over", "unknown", over, false, true],
    ["an unknown owner's whose time is not over", "unknown", ahead, false, false],
    ["an unknown owner's that runs: its owner lives", "unknown", over, true, false],
    ["an unknown owner's without a time", "unknown", {}, false, false],
    ["an unknown owner's with a time that is none", "unknown", { [labels.expiresAt]: "soon" }, false, false],
  ] as const)("%s", (_, owner, own, running, expected) => {
    expect(isLeftOver({ labels: own, running }, owner, nowMs)).toBe(expected);
  });
});

describe("whose a container is", () => {
  const sandbox = createId("sbx");
  const own = { [labels.sandbox]: sandbox };

  it.each([
    ["ours", `glovebox-${sandbox}`, own, true],
    ["ours, for folders", `glovebox-${sandbox}-folders`, own, true],
    ["another's, from an image with our labels", "quiet_turing", own, false],
    ["another's, whose name the image guessed", "glovebox-web-1", { [labels.sandbox]: "web-1" }, false],
    ["one with another sandbox's name", `glovebox-${createId("sbx")}`, own, false],
    ["one with our name and no label", `glovebox-${sandbox}`, {}, false],
    ["one without a name", "", { [labels.sandbox]: "" }, false],
  ])("%s", (_, name, carried, expected) => {
    expect(isOwnContainer({ name, labels: carried })).toBe(expected);
  });
});
