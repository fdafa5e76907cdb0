import { gzipSync } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { bundleConsole, type ConsoleFiles } from "./bundle-console.ts";

let files: ConsoleFiles;
beforeAll(async () => void (files = await bundleConsole()));

it("is small", () => {
  expect(files.script.length).toBeLessThan(135_000);
  expect(gzipSync(files.script).length).toBeLessThan(54_000);
  expect(files.style.length).toBeLessThan(25_000);
});

it("carries the licence of each package that is in it, and no other package", () => {
  const [comment = ""] = files.script.split("*/", 1);
  const packages = [...comment.matchAll(/^(\S+) \d+\.\d+\.\d+$/gm)].map(([, name]) => name);
  expect(packages).toEqual(["@preact/signals", "@preact/signals-core", "preact", "uplot"]);
  expect(comment.match(/Permission is hereby granted, free of charge/g)).toHaveLength(packages.length);
});

it("loads nothing from elsewhere, and tells nothing of the machine that made it", () => {
  const addresses = files.script.match(/https?:\/\/[\w.-]+/g) ?? [];
  expect([...new Set(addresses)].filter((address) => !address.endsWith("www.w3.org"))).toEqual([]);
  expect(files.style).not.toMatch(/url\(|@import/);
  expect(files.script + files.style).not.toContain(import.meta.dirname);
});
