import { randomInt } from "node:crypto";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { guardEngine } from "../../src/engines/guarded-engine.ts";
import { createPodmanEngine } from "../../src/engines/podman/podman-engine.ts";
import { openPlace } from "../../src/sandbox/mounts/open-place.ts";
import { MeddlingProxy } from "../helpers/meddling-proxy.ts";
import { outcomeOf } from "../helpers/outcome-of.ts";
import { rootlessSocket, rootlessSpec } from "../helpers/rootless-podman.ts";

describe("a folder on Podman without root", () => {
  it.for([
    ["that stays in its place is mounted, and known to be it", false],
    ["exchanged between check and mount is noticed", true],
  ] as const)("%s", async ([, isExchanged], context) => {
    const service = rootlessSocket(context);
    const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
    context.onTestFinished(() => rmSync(folder, { recursive: true }));
    const at = (...names: string[]): string => path.join(folder, ...names);
    const { uid } = statSync(service);
    for (const name of ["way/project", "other/project", "profiles"]) mkdirSync(at(name), { recursive: true });
    for (const name of ["way/project", "other/project"]) chownSync(at(name), uid, uid);
    chmodSync(folder, 0o755);
    await using proxy = await MeddlingProxy.start(service, {
      // Happens when Podman prepares the container.
      at: isExchanged ? /^POST \S+\/attach[ ?]/ : /^never$/,
      before: () => {
        renameSync(at("way"), at("kept"));
        symlinkSync(at("other"), at("way"));
      },
      after: () => {
        unlinkSync(at("way"));
        renameSync(at("kept"), at("way"));
      },
    });
    await using engine = guardEngine(
      createPodmanEngine({
        environment: { CONTAINER_HOST: `unix://${proxy.socketPath}` },
        platform: process.platform,
        uid: process.getuid?.() ?? null,
        randomInteger: randomInt,
        profileFolder: at("profiles"),
      }),
    );
    await using place = await openPlace(at("way/project"), "linux");
    if (place === null) throw new Error("The folder changed while it was opened.");
    const mount = { source: place.realPath, target: "/workdir", readOnly: false, identity: await place.identify() };
    const container = await engine.create({ ...rootlessSpec(), mounts: [mount] });
    try {
      const refused = expect.objectContaining({
        errorType: "POLICY_DENIED",
        context: expect.objectContaining({ rule: "changed" }),
      });
      expect(await outcomeOf(container.start())).toEqual(isExchanged ? refused : "it was done");
      expect(container.mountsVerified).toBe(!isExchanged);
    } finally {
      await container.remove();
    }
  });
});
