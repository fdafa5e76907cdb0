import { globSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { runtimeIndependent } from "./engine-contract/runtime-independent.ts";
import { topics } from "./engine-contract/topics.ts";
import { findEngines } from "./lanes/absent-engines.ts";
import { absentLaneFile, absentLanesVariable, readAbsentLanes } from "./lanes/absent-lanes.ts";
import { aloneFiles, longFiles, rareFiles, rareRepositoryFiles } from "./lanes/files.ts";
import { engineProjects, projectOf, projectsOf, rareTag, rareTagOnPodman, type EngineProject } from "./lanes/lanes.ts";
import { isLate, outOfTime, rareUntilVariable } from "./lanes/time-left.ts";

const files = globSync("test/{apple-cli,engine-contract,e2e,security}/**/*.test.ts");

describe("lanes of tests", () => {
  it("every file of tests is in one or more of them", () => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => projectsOf(file).length === 0)).toEqual([]);
    expect(
      globSync("test/**/*.test.ts")
        .filter((file) => !/^test\/(?:[^/]+|(?:supervisor|kubernetes)\/.*)$/.test(file))
        .toSorted(),
    ).toEqual(files.toSorted());
  });

  it("files that are named for where or when they run exist", () => {
    expect([...aloneFiles, ...rareFiles].filter((file) => !files.includes(file))).toEqual([]);
    const all = globSync("test/**/*.test.ts");
    expect([...longFiles, ...rareRepositoryFiles].filter((file) => !all.includes(file))).toEqual([]);
  });

  it("what is rare on Podman adds no project on other engines", () => {
    expect(projectsOf("test/e2e/network-refusals.test.ts")).toEqual(["docker", "podman", "podman-rare", "local"]);
    expect(projectsOf("test/e2e/agent-doors.test.ts")).toEqual(["local", "local-rare"]);
    expect(rareTagOnPodman("podman")).toEqual({ tags: [rareTag] });
    expect(rareTagOnPodman("docker")).toEqual({ tags: [] });
  });

  it("topics that a runtime has no part in exist", () => {
    expect(Object.keys(topics)).toEqual(expect.arrayContaining(Object.keys(runtimeIndependent)));
  });

  it("a test is in one project of its file, whatever it is called", () => {
    const names = ["on docker", "on podman", "docker with runsc", "under gVisor", "on local", "anything"];
    for (const file of files) {
      const projects = projectsOf(file);
      expect(engineProjects).toEqual(expect.arrayContaining([...projects]));
      for (const fullName of names)
        for (const rare of [true, false]) {
          expect(projects).toContain(projectOf({ fullName, rare }, projects));
        }
    }
  });

  it.each([
    ["sessions on docker > a", false, "docker"],
    ["sessions on docker with runsc > a", false, "runsc"],
    ["sessions on docker > a", true, "docker-rare"],
    ["sessions > a", false, "local"],
    ["sessions on podman > as on docker", true, "podman"],
    ["engine contract: docker > limits > limits.cpu: a share", false, "alone"],
    ["engine contract: docker > limits > limits.cpus: another", false, "docker"],
    ["engine contract: apple > losses > a container on podman", false, "docker"],
    ["engine contract: apple > files > a", true, "docker-rare"],
  ])("%s (rare: %s) is in %s", (fullName, rare, project) => {
    const projects: EngineProject[] = ["docker", "podman", "runsc", "local", "docker-rare", "alone"];
    expect(projectOf({ fullName, rare }, projects)).toBe(project);
  });

  it("where time is short, rare tests are left out, and first those that another engine has", () => {
    const at = (project: EngineProject, until: string | undefined): string | null =>
      outOfTime(project, { environment: { [rareUntilVariable]: until }, nowMs: 2_000_000 });
    expect(at("docker-rare", "2000")).toContain(rareUntilVariable);
    expect(at("docker-rare", "2001")).toBe(null);
    expect(at("docker-rare", undefined)).toBe(null);
    expect(at("docker", "0")).toBe(null);
    expect(() => at("docker-rare", "soon")).toThrow("seconds since the epoch");
    expect(engineProjects.filter((project) => isLate(project, ""))).toEqual(["podman-rare", "runsc-rare"]);
    expect(files.filter((file) => isLate("docker-rare", file))).toHaveLength(1);
  });

  it("a behaviour that needs the processors for itself has them in a rare file, too", () => {
    const projects = projectsOf("test/engine-contract/contract.apple.test.ts");
    const fullName = "engine contract: apple > limits > limits.cpu: a share";
    expect(projectOf({ fullName, rare: false }, projects)).toBe("alone-rare");
  });

  it("a lane whose engine does not answer is found by asking the engine, and leaves one skip per file", async () => {
    vi.stubEnv("GLOVEBOX_TEST_REQUIRE", "podman");
    vi.stubEnv("DOCKER_HOST", "unix:///nonexistent/docker.sock");
    vi.stubEnv("CONTAINER_HOST", "unix:///nonexistent/podman.sock");
    const { absent, lines } = await findEngines();
    vi.unstubAllEnvs();
    // If an engine is required, its tests must fail.
    expect(Object.keys(absent).toSorted()).toEqual(["docker", "runsc"]);
    expect(absent.docker).toContain("DOCKER_HOST");
    expect(lines).toContainEqual(expect.stringMatching(/^no docker: .*DOCKER_HOST/));
    expect(lines).toContainEqual(expect.stringMatching(/^(?:no )?local/));
    expect(readAbsentLanes({ [absentLanesVariable]: JSON.stringify(absent) })).toEqual(absent);
    expect(readAbsentLanes({})).toEqual({});
    const projects = projectsOf(absentLaneFile);
    for (const lane of ["docker", "podman", "runsc"]) {
      const fullName = `${lane}: test/e2e/rootless-podman.test.ts`;
      expect(projectOf({ fullName, rare: false }, projects)).toBe(lane);
      expect(projectOf({ fullName, rare: true }, projects)).toBe(`${lane}-rare`);
    }
  });
});
