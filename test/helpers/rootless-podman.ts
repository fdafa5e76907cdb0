import { execFileSync } from "node:child_process";
import type { TestContext } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import { createId } from "../../src/base/id.ts";
import type { ContainerSpec } from "../../src/engines/container-spec.ts";
import { skipOrFail } from "./require.ts";

const image = process.env["GLOVEBOX_TEST_IMAGE_MINIMAL"] ?? "glovebox-test/minimal:1";

/** The socket of a rootless service that has the image of `rootlessSpec`. */
export function rootlessSocket(context: TestContext): string {
  const socket = process.env["GLOVEBOX_TEST_ROOTLESS_SOCKET"];
  if (socket === undefined) skipOrFail(context, "rootless", "GLOVEBOX_TEST_ROOTLESS_SOCKET names no socket");
  const load = `curl --silent --fail --unix-socket ${socket} --upload-file - --request POST http://engine/v1.41/images/load`;
  execFileSync("sh", ["-c", `docker save ${image} | ${load}`]);
  return socket;
}

export function rootlessSpec(): ContainerSpec {
  return {
    name: createId("glovebox-rootless"),
    image,
    labels: {},
    limits: { cpus: 1, memoryBytes: 256 * mebibyte, pids: 64 },
    scratch: [],
  };
}
