import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { seccompProfileText } from "../scripts/seccomp-profile.ts";
import { projectFolder } from "./helpers/project-folder.ts";

const read = (name: string): string => readFileSync(join(projectFolder, name), "utf8");

describe("the deployment", () => {
  it("has the seccomp profile of the policy", () => {
    const profile = read("deploy/seccomp-profile.json");
    expect(profile).toContain('"SCMP_ACT_ALLOW"');
    expect(profile, "stale: run node scripts/write-seccomp-profile.ts").toBe(seccompProfileText());
  });

  it("builds from what the Dockerfile copies and .dockerignore lets through", () => {
    const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = ""]) =>
      names.split(" "),
    );
    expect(copied).toContain("src/");
    const passed = read(".dockerignore").split("\n");
    for (const name of copied) expect(passed).toContain(`!${name}`);
  });
});
