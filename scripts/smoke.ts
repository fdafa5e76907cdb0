/**
 * `npm run smoke [-- ENGINE...]`: tries, on whatever system this is, what differs most between systems, with each engine that
 * answers or with those that are named. If you have a kind of machine that we do not, run this and send us what it prints.
 * The exit code is 1 when a step fails or a named engine does not answer.
 */
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createGlovebox, type Glovebox } from "../src/index.ts";
import { smokeSteps, type SmokeScene } from "./smoke/steps.ts";

const named = process.argv.slice(2);
const home = await mkdtemp(path.join(os.tmpdir(), "glovebox smoke-"));
let failures = 0;
try {
  await using glovebox = await createGlovebox({ workingDirectory: home });
  const { engines, platform, nodeVersion, configuration } = await glovebox.doctor();
  const image = String(configuration.settings.find(({ key }) => key === "images.python")?.value);
  console.log(`${platform}, ${os.release()}, Node ${nodeVersion}`);
  for (const { name, available, version, isolation, reason, capabilities } of engines) {
    if (named.length > 0 && !named.includes(name)) continue;
    console.log(`\n${name}: ${available ? `${version}, isolation ${isolation}` : `does not answer. ${reason}`}`);
    if (available) await tryAll(glovebox, name, capabilities?.["images"] === "yes" ? image : null);
    else if (named.includes(name)) failures++;
  }
  const unknown = named.filter((name) => engines.every((engine) => engine.name !== name));
  for (const name of unknown) console.log(`\n${name}: there is no such engine.`);
  failures += unknown.length;
} finally {
  await rm(home, { recursive: true, force: true });
}
console.log(failures === 0 ? "\nEverything works." : `\n${failures} failed.`);
process.exitCode = failures === 0 ? 0 : 1;

async function tryAll(glovebox: Glovebox, engine: string, image: string | null): Promise<void> {
  const made = new Set<string>();
  for (const { name, run, applies } of smokeSteps) {
    const folder = await mkdtemp(path.join(home, "a project-"));
    const scene: SmokeScene = { glovebox, engine, image, folder, made };
    if (applies?.(scene) === false) continue;
    const begin = performance.now();
    const problem = await run(scene).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (problem !== null) failures++;
    console.log(`${problem === null ? "ok    " : "FAILED"}  ${name} (${Math.round(performance.now() - begin)} ms)`);
    if (problem !== null) console.log(problem.replaceAll(/^/gm, "        "));
  }
}
