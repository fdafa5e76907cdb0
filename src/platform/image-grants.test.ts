import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failureOf } from "../../test/helpers/failure-of.ts";
import { loadHostConfig } from "../config/load-config.ts";
import type { Engine } from "../engines/engine.ts";
import type { Grant } from "../operations/contract/operation-contract.ts";
import { grantedParts } from "../operations/handler.ts";
import { operationTable } from "../operations/table.ts";
import { createPlatform, type Platform } from "./platform.ts";

const everything: Grant = {
  maxSandboxes: null,
  ceilings: {},
  engines: null,
  networks: null,
  images: null,
  secrets: null,
  mountRoots: null,
};

let platform: Platform;
beforeAll(async () => {
  const settings = { images: { python: "own/python:1", allow: ["registry.example:5000/*", "python:3.13"] } };
  const { config, host } = await loadHostConfig({ settings });
  platform = await createPlatform({ config, host, door: "server", defaultEngine: "local", grantOf: () => everything });
});
afterAll(() => platform.close());

const takingImages = operationTable.filter(
  ({ audience, request }) => audience === "everyone" && "image" in (request as { shape: object }).shape,
);

/** What else each operation needs. */
const requests: Readonly<Record<string, object>> = {
  run_code: { code: "1" },
  open_session: {},
  execute_code: { language: "python", code: "1" },
  run_tests: { project_path: ".", test_command: "true" },
  start_preview: { project_path: ".", command: "true" },
  run_agent: { group: "main", prompt: "x" },
  create_environment: {},
};

describe("an API key", () => {
  it("is refused an image that is neither configured nor listed, by every operation that takes one", async () => {
    expect(takingImages.map(({ name }) => name)).toEqual(Object.keys(requests));
    for (const contract of takingImages) {
      for (const image of ["registry.example/x:1", "python:3.12-slim", "5", `sha256:${"5f".repeat(32)}`]) {
        const call = platform.call(contract, { ...requests[contract.name], image }, { principal: "key:1" });
        const error = await failureOf(call, "POLICY_DENIED");
        expect(error.context, contract.name).toMatchObject({ field: "image", rule: "images", value: image });
        expect(error.suggestion).toContain("--images");
      }
    }
  });

  it("has the images of its own list, else the deployment's, and always the configured ones", () => {
    const allowed = (image: string, images: Grant["images"]): boolean => {
      try {
        return grantedParts(platform, { ...everything, images }).checkImage(image) === image;
      } catch {
        return false;
      }
    };
    for (const image of ["own/python:1", "docker.io/own/python:1", "bun-runner-base", "alpine:3", "glovebox-agent"]) {
      expect(allowed(image, []), image).toBe(true);
    }
    expect(allowed("python:3.13", null)).toBe(true);
    expect(allowed("registry.example:5000/team/x:1", null)).toBe(true);
    expect(allowed("python:3.13", ["ruby:3"])).toBe(false);
    expect(allowed("ruby:3", ["ruby:3"])).toBe(true);
    expect(allowed("ruby:3", null)).toBe(false);
  });

  it("is refused the same where a project's files name them, and what it may have counts as named by itself", async () => {
    const provided: unknown[] = [];
    const provideImage = async (...[needed]: Parameters<Platform["provideImage"]>): Promise<void> =>
      void provided.push(needed);
    const parts = grantedParts({ ...platform, provideImage }, everything);
    const provide = (image: string, origin: "project" | "request" | "configured"): Promise<void> =>
      parts.provideImage({ image, origin }, {} as Engine, { onPull: () => undefined, onBuild: () => undefined });
    const error = await failureOf(provide("evil.example/x:1", "project"), "POLICY_DENIED");
    expect(error.message).toContain("the image of the project's files");
    await failureOf(provide("evil.example/x:1", "request"), "POLICY_DENIED");
    expect(provided).toEqual([]);
    await provide("python:3.13", "project");
    await provide("a-groups/own:1", "configured");
    expect(provided).toEqual([
      { image: "python:3.13", origin: "request" },
      { image: "a-groups/own:1", origin: "configured" },
    ]);
  });
});

it("the user of the machine may name any image, but none of Glovebox's own handles", () => {
  for (const image of ["evil.example/x:1", "5", `sha256:${"5f".repeat(32)}`, "localhost:5000/x"]) {
    expect(platform.checkImage(image)).toBe(image);
  }
  for (const image of ["glovebox-content:1", "localhost/glovebox-made:img-1", "registry.example/glovebox-made"]) {
    expect(() => platform.checkImage(image), image).toThrow(/does not keep for itself/);
  }
});
