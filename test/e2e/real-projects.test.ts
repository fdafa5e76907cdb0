import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { npmRegistryFault } from "../helpers/npm-registry.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { pythonIndex } from "../helpers/python-index.ts";
import { sessionImages } from "../helpers/test-images.ts";

/** A project of other people whose published sources hold its tests, and what its own runner counts outside any sandbox. */
interface RealProject {
  readonly id: string;
  readonly source: "pip" | "npm";
  readonly spec: string;
  readonly setup: string;
  readonly command: string;
  readonly counts: Readonly<Record<"passed" | "failed" | "skipped", number>>;
}

const list = new URL("../fixtures/real-projects.json", import.meta.url);
const projects = JSON.parse(readFileSync(list, "utf8")) as readonly RealProject[];
const index = pythonIndex();
const faults = { pip: index.fault, npm: npmRegistryFault() };
const folder = mkdtempSync(path.join(tmpdir(), "glovebox-real-projects-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Fetches the sources with the ordinary clients of this machine. @returns the project's folder */
function fetchProject({ id, source, spec }: RealProject): string {
  const place = path.join(folder, id);
  mkdirSync(place, { recursive: true });
  const [name = ""] = spec.split("==");
  const fetches =
    source === "npm"
      ? ["npm", "pack", "--silent", spec]
      : ["python3", "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name, "--dest", ".", spec];
  const [program = "", ...args] = fetches;
  execFileSync(program, args, { cwd: place, stdio: "ignore", timeout: 300_000 });
  const [archive = ""] = readdirSync(place);
  execFileSync("tar", ["-xzf", archive], { cwd: place });
  return path.join(place, readdirSync(place).find((entry) => entry !== archive) ?? "");
}

describe.each(["docker"] as const)("published projects on %s", (engine) => {
  const glovebox = useGlovebox(engine, {
    workingDirectory: folder,
    settings: { images: sessionImages, network: { private_hosts: [...index.fileHosts] } },
  });

  it.for(projects)("have the counts of their own runner: $id", { timeout: 600_000 }, async (project, context) => {
    const fault = faults[project.source];
    if (fault !== null) context.skip(fault);
    const response = await glovebox().test({
      project_path: fetchProject({ ...project, id: `${project.id}-${engine}` }),
      setup_command: project.setup,
      test_command: project.command,
    });
    const told = `${response.reason}\n${response.output}`;
    expect(response, told).toMatchObject({ verdict: "passed", counted: true, ...project.counts });
  });
});
