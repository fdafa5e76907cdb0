import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { devcontainerImage, imageOf } from "./choose-image.ts";

let root: string;
const at = (name: string): string => path.join(root, "project", name);
const read = (): Promise<string | null> => devcontainerImage({ stablePath: at("") }, process.platform);

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "glovebox-devcontainer-"));
  mkdirSync(at(".devcontainer"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

describe("the image of a devcontainer", () => {
  it("is that of the folder's file, else of the one beside it, else none", async () => {
    expect(await read()).toBeNull();
    writeFileSync(at(".devcontainer.json"), '{ "image": "node:24-slim" }');
    expect(await read()).toBe("node:24-slim");
    writeFileSync(at(".devcontainer/devcontainer.json"), '// tools\n{ "image": "python:3.12", /* no more */ }');
    expect(await read()).toBe("python:3.12");
  });

  it("is none where a Dockerfile is named instead, and nothing else is read", () => {
    expect(imageOf('{ "build": { "dockerfile": "Dockerfile" }, "runArgs": ["--privileged"] }', "x")).toBeNull();
  });

  it.each([
    ["bad JSON", '{\n"image": nonsense }', /line 2/],
    ["brackets without end", "[".repeat(60_000), /no JSON with comments/],
    ["an image that is no string", '{ "image": ["a"] }', /no string/],
    ["an image that is no reference", '{ "image": "--privileged; rm" }', /image of/],
    ["a variable of the host", '{ "image": "${localEnv:IMAGE}" }', /image of/],
    ["no object", '["image"]', /no JSON object/],
    ["more than it takes", " ".repeat(70_000), /64 KiB/],
  ])("is refused for %s", async (_, text, message) => {
    writeFileSync(at(".devcontainer.json"), text);
    expect((await failureOf(read(), "INVALID_REQUEST")).message).toMatch(message);
  });

  it("is refused where a link or a pipe is in the way, wherever that leads", async () => {
    writeFileSync(path.join(root, "secret"), '{ "image": "from:outside" }');
    symlinkSync("../secret", at(".devcontainer.json"));
    await failureOf(read(), "INVALID_REQUEST");
    rmSync(at(".devcontainer"), { recursive: true });
    mkdirSync(path.join(root, "outside"));
    writeFileSync(path.join(root, "outside/devcontainer.json"), '{ "image": "from:outside" }');
    symlinkSync("../outside", at(".devcontainer"));
    await failureOf(read(), "INVALID_REQUEST");
    rmSync(at(".devcontainer"));
    rmSync(at(".devcontainer.json"));
    execFileSync("mkfifo", [at(".devcontainer.json")]);
    await failureOf(read(), "INVALID_REQUEST");
  });
});
