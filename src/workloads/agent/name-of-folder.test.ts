import { expect, it } from "vitest";
import { checkGroupName } from "../../policy/chosen-names.ts";
import { nameOfFolder } from "./agent-folders.ts";

it.each([
  ["/home/ann/shop", /^shop-[0-9a-f]{16}$/],
  ["/home/ann/My Shop (new)", /^my-shop-new-[0-9a-f]{16}$/],
  ["/home/ann/сад", /^folder-[0-9a-f]{16}$/],
  ["/", /^folder-[0-9a-f]{16}$/],
  [`/x/${"a-".repeat(3_000)}`, /^(?:a-)+[0-9a-f]{16}$/],
  ["/x/global", /^global-[0-9a-f]{16}$/],
])("what an agent keeps of a folder has a name of its own for %s, which a group could have", (folder, name) => {
  expect(nameOfFolder(folder, "local")).toMatch(name);
  expect(checkGroupName(nameOfFolder(folder, "local"))).toBe(nameOfFolder(folder, "local"));
});

it("what an agent keeps of a folder is shared neither with a folder of the same name nor with another caller", () => {
  const names = [
    nameOfFolder("/a/shop", "local"),
    nameOfFolder("/b/shop", "local"),
    nameOfFolder("/a/shop", "key:1"),
    nameOfFolder("/a/shop", "key:2"),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect(nameOfFolder("/a/shop", "local")).toBe(names[0]);
});
