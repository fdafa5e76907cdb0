import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { absentLaneFile } from "./absent-lanes.ts";
import { aloneFiles, rareFiles } from "./files.ts";

/** What tests wait for. `local` has the embedded engine at all its levels, and tests that need no engine or several. */
export const lanes = ["docker", "podman", "runsc", "local"] as const;
export type Lane = (typeof lanes)[number];

/** A test with this tag is run by `npm run test:full`, not by `npm test`. */
export const rareTag = "rare";

/** For what hardly depends on the engine: `npm test` tries it on Docker and on the embedded engine. */
export const rareTagOnPodman = (engine: string): { readonly tags: string[] } => ({
  tags: engine === "podman" ? [rareTag] : [],
});

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A table of engines that a file loops over. */
const loop =
  /describe\.(?:each|for)\(\s*(?:engines|places|allOwners|testedOwners|cases|\[cases\[|doors|\["(?:docker|podman)")/;

/** gVisor belongs to Docker, also in the names of tests; and the stand-in for Apple's command runs on Docker. */
const engineWord = /contract: apple|docker with runsc|runsc|gVisor|docker|podman/;
const laneOfWord: Readonly<Record<string, Lane>> = {
  "contract: apple": "docker",
  docker: "docker",
  podman: "podman",
  local: "local",
};

/** A behaviour of the contract that other use of the processors would mask. */
const aloneBehaviour = /(?:^|[ >])limits\.cpu:/;

/** Vitest's projects are the lanes and `alone`, and the same again for rare tests: `docker`, `docker-rare`. */
export type EngineProject = `${Lane | "alone"}${"" | "-rare"}`;

export const engineProjects: readonly EngineProject[] = [...lanes, "alone" as const].flatMap((lane) => [
  lane,
  `${lane}-rare` as const,
]);

/** The path of a file relative to the checkout's root, as written in the tables of files. */
export function pathOf(file: string): string {
  return relative(root, file).replaceAll("\\", "/");
}

/** Lanes that may run part of a test file, judging by its text. */
function lanesOf(path: string, text: string): readonly Lane[] {
  const contract = /engine-contract\/contract\.(docker|podman|runsc|apple)\.test\.ts$/.exec(path)?.[1];
  if (contract !== undefined) return [contract === "apple" ? "docker" : (contract as Lane)];
  if (!loop.test(text)) return ["local"];
  return lanes.filter((lane) => lane !== "runsc" || /\bplaces\b|runsc|gVisor/.test(text));
}

/** The projects that a test file belongs to. */
export function projectsOf(path: string): readonly EngineProject[] {
  if (path === absentLaneFile) return engineProjects;
  const text = readFileSync(join(root, path), "utf8");
  const own = aloneFiles.includes(path) ? (["alone"] as const) : lanesOf(path, text);
  const isOfContract = path.includes("engine-contract/contract.");
  if (rareFiles.includes(path)) {
    return [...own, ...(isOfContract ? (["alone"] as const) : [])].map((lane) => `${lane}-rare` as const);
  }
  // Behaviours that are rare on gVisor are marked where they are defined.
  const mixed = /\brareTag\b/.test(text) || own[0] === "runsc";
  const isMixed = (lane: Lane | "alone"): boolean => mixed || (lane === "podman" && text.includes("rareTagOnPodman("));
  const projects = own.flatMap((lane) => (isMixed(lane) ? [lane, `${lane}-rare` as const] : [lane]));
  return isOfContract ? [...projects, "alone"] : projects;
}

/** The one among a file's projects that runs a given test. */
export function projectOf(
  test: { readonly fullName: string; readonly rare: boolean },
  projects: readonly EngineProject[],
): EngineProject {
  const alone = projects.find((project) => project.startsWith("alone"));
  if (aloneBehaviour.test(test.fullName) && alone !== undefined) return alone;
  const word = engineWord.exec(test.fullName)?.[0] ?? "local";
  const named = laneOfWord[word] ?? "runsc";
  const of = (lane: string): EngineProject | undefined =>
    projects.find((project) => project === `${lane}${test.rare ? "-rare" : ""}`) ??
    projects.find((project) => project.replace("-rare", "") === lane);
  const found = of(named) ?? of("local") ?? projects[0];
  if (found === undefined) throw new Error(`No lane has ${test.fullName}`);
  return found;
}
