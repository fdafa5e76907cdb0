import { expect, it } from "vitest";
import { pageAddress } from "./preview-view.tsx";

const own = "http://127.0.0.1:8420";

it.each(["http://k3v0.localhost:8420/", "https://k3v0.preview.example/"])("frames the page %s", (text) => {
  expect(pageAddress(text, own)).toBe(text);
});

it.each([
  "",
  "x",
  "javascript:alert(1)",
  "data:text/html,x",
  "blob:http://127.0.0.1:8420/x",
  "file:///etc/passwd",
  `${own}/docs`,
])("never frames %j", (text) => expect(pageAddress(text, own)).toBeNull());
