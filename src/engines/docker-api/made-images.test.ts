import { expect, it } from "vitest";
import { labels } from "../labels.ts";
import { isMadeImage, programUidOf } from "./made-images.ts";

const own = { [labels.image]: "img-1" };

it.each([
  ["one that was made of a container", own, ["localhost/glovebox-made:img-1"], true],
  ["one that was made of it, with its labels and no name", own, [], false],
  ["one that an engine shows as nameless", own, ["<none>:<none>"], false],
  ["one that somebody has named besides", own, ["localhost/glovebox-made:img-1", "kept:1"], false],
  ["another one of ours by name", own, ["localhost/glovebox-made:img-2"], false],
  ["one of our name alone", {}, ["localhost/glovebox-made:img-1"], false],
  ["one of another registry", own, ["registry.example/glovebox-made:img-1"], false],
  ["nothing", null, null, false],
])("%s", (_, Labels, RepoTags, expected) => {
  expect(isMadeImage({ Id: "sha256:1", Labels, RepoTags })).toBe(expected);
});

it.each([
  ["60800", ["localhost/glovebox-made:img-1"], 60_800],
  ["60800", ["registry.example/x:1"], null],
  ["60800", [], null],
  ["-1", ["localhost/glovebox-made:img-1"], null],
  ["6e4", ["localhost/glovebox-made:img-1"], null],
  ["9".repeat(20), ["localhost/glovebox-made:img-1"], null],
])("the user %s of an image named %j is %s", (user, RepoTags, expected) => {
  expect(programUidOf({ Id: "sha256:1", Labels: { ...own, [labels.programUser]: user }, RepoTags })).toBe(expected);
});
