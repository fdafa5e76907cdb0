import { execFileSync, spawnSync } from "node:child_process";
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import { agentVariables } from "../../src/policy/known-agents.ts";
import { createId } from "../../src/base/id.ts";
import type { Settings } from "../../src/config/load-config.ts";
import { useGlovebox, type TestedPlace } from "./open-glovebox.ts";
import { testImages } from "./test-images.ts";
import type { Glovebox, GloveboxOptions } from "./wire-glovebox.ts";

type RunAgent = Glovebox["runAgent"];

/** Owner of the folders of groups: a user that the image does not know. */
export const groupOwner = { uid: 4321, gid: 4322 };

/** Stands in for an agent: its prompt is a shell script. Its whole input is in a file. */
export const agentEntrypoint = `#!/bin/sh
[ ! -r /workspace/env-dir/env ] || . /workspace/env-dir/env
cat >/tmp/input.json
python3 -c 'import json; open("/tmp/prompt", "w").write(json.load(open("/tmp/input.json"))["prompt"])'
exec sh /tmp/prompt
`;

/** A line of shell that prints an answer between the markers. */
export const answer = (text: string): string =>
  `printf '%s\\n' ---FFT_NANO_OUTPUT_START--- '${text}' ---FFT_NANO_OUTPUT_END---`;

/** A line that reports success. */
export const success = (result: string): string => answer(JSON.stringify({ status: "success", result }));

export interface AgentScene {
  readonly glovebox: () => Glovebox;
  readonly folder: string;
  /** The image whose agent is a shell. */
  readonly image: string;
  /** A path in the folder of all groups. */
  readonly at: (...names: string[]) => string;
  /** Runs a script as the agent of the group `family`. */
  readonly run: (
    script: string,
    more?: Partial<Parameters<RunAgent>[0]>,
    call?: Parameters<RunAgent>[1],
  ) => ReturnType<RunAgent>;
  /** Logs of a group, oldest first. */
  readonly logs: (group?: string) => readonly string[];
}

/** A Glovebox with the groups `family`, `other` and `main` of another user, and an image whose agent is a shell. */
export function useAgents(
  {
    engine,
    runtime = {},
  }: { readonly engine: "docker" | "podman" | "apple"; readonly runtime?: TestedPlace["runtime"] },
  agents: Settings = {},
  variables: Readonly<Record<string, string>> = {},
  more: Settings = {},
  options: Pick<GloveboxOptions, "logger"> = {},
): AgentScene {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-agents-")));
  const at = (...names: string[]): string => path.join(folder, ...names);
  // The stand-in for Apple's command sees Docker's images, except those of a registry.
  const [builder, registry] = engine === "apple" ? ["docker", ""] : [engine, "localhost/"];
  const image = `${registry}glovebox-test/agent:${createId("image").replace("_", "-")}`;
  const own = { uid: process.getuid?.() === 0 ? groupOwner.uid : (process.getuid?.() ?? 0), gid: groupOwner.gid };
  for (const names of [
    ["groups"],
    ["groups", "family"],
    ["groups", "other"],
    ["groups", "global"],
    ["data"],
    ["nano"],
  ]) {
    mkdirSync(at(...names));
    if (process.getuid?.() === 0) chownSync(at(...names), own.uid, own.gid);
  }
  if (process.getuid?.() === 0) chownSync(folder, own.uid, own.gid);
  writeFileSync(at("groups", "other", "private.md"), "of another group\n");
  writeFileSync(at("groups", "global", "shared.md"), "of all groups\n");
  let isBuilt = false;
  beforeAll(() => {
    // None of this machine's keys: agents would get them.
    for (const { name } of agentVariables) delete process.env[name];
    Object.assign(process.env, variables);
    const context = mkdtempSync(path.join(os.tmpdir(), "glovebox-agent-image-"));
    try {
      writeFileSync(path.join(context, "entrypoint.sh"), agentEntrypoint, { mode: 0o755 });
      const made = `FROM ${testImages.python}\nCOPY entrypoint.sh /app/entrypoint.sh\n`;
      writeFileSync(path.join(context, "Dockerfile"), made);
      // Without its engine each test is skipped, or fails where the engine is required.
      isBuilt = spawnSync(builder, ["build", "-q", "-t", image, context], { stdio: "pipe" }).status === 0;
    } finally {
      rmSync(context, { recursive: true });
    }
  }, 120_000);
  const settings = {
    images: testImages,
    ...more,
    agents: { directory: folder, project: folder, main_workspace: at("nano"), image, ...agents },
  };
  const glovebox = useGlovebox(engine, { ...options, settings, workingDirectory: folder }, runtime);
  afterAll(() => {
    if (isBuilt) execFileSync(builder, ["rmi", "-f", image], { stdio: "pipe" });
    rmSync(folder, { recursive: true });
  });
  const logs = (group = "family"): readonly string[] =>
    readdirSync(at("groups", group, "logs"))
      .toSorted()
      .map((name) => readFileSync(at("groups", group, "logs", name), "utf8"));
  return {
    glovebox,
    folder,
    image,
    at,
    run: (prompt, more = {}, call) => glovebox().runAgent({ group: "family", prompt, ...runtime, ...more }, call),
    logs,
  };
}
