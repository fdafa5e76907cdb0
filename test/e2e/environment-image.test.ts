import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startKeyServer, type KeyServer, type TestKey } from "../helpers/key-server.ts";
import { isRequired } from "../helpers/require.ts";
import { sessionImages } from "../helpers/test-images.ts";

describe.each(["docker", "podman"] as const)("an environment without an image on %s", (engine) => {
  let projects = "";
  let server: KeyServer;
  let ann: TestKey;
  beforeAll(async () => {
    if (!isRequired(engine)) return;
    projects = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
    // What a Node project has counts before a script of Python beside it.
    const files = { shop: ["package.json", "tool.py"], sums: ["sums.py"], fast: ["bun.lock"] };
    for (const [project, names] of Object.entries(files)) {
      mkdirSync(path.join(projects, project));
      for (const name of names) writeFileSync(path.join(projects, project, name), "{}");
    }
    server = await startKeyServer(["--engine", engine], {
      ...{ GLOVEBOX_PROJECT_ROOTS: projects, GLOVEBOX_IMAGES_ALLOW: "", GLOVEBOX_IMAGE_SESSION: sessionImages.session },
    });
    ann = await server.addKey("ann", "--mount-roots", projects);
  });
  beforeEach((context) => {
    if (!isRequired(engine)) context.skip(`GLOVEBOX_TEST_REQUIRE does not list ${engine}`);
  });
  afterAll(async () => {
    if (!isRequired(engine)) return;
    await server[Symbol.asyncDispose]();
    rmSync(projects, { recursive: true });
  });

  const create = async (request: object): Promise<Readonly<Record<string, unknown>>> =>
    (await (await ann.ask("POST /api/environments", request)).json()) as Readonly<Record<string, unknown>>;

  it.each([
    ["of no project is in that of sessions", {}, sessionImages.session, "bun --version && python3 --version"],
    ["of a Node project has Node", { project: "shop" }, sessionImages.javascript, "node --version"],
    ["of a Python project has Python", { project: "sums" }, sessionImages.python, "python3 --version"],
    ["of a Bun project has Bun", { project: "fast" }, sessionImages.session, "bun --version"],
  ])("%s", async (_, { project }: { readonly project?: string }, image, command) => {
    const root = project === undefined ? {} : { project_root: path.join(projects, project) };
    const made = await create(root);
    expect(made).toMatchObject({ image });
    const id = String(made["env_id"]);
    const ran = await ann.ask(`POST /api/environments/${id}/commands`, { command });
    expect(await ran.json()).toMatchObject({ outcome: "completed" });
    await ann.ask(`DELETE /api/environments/${id}`);
  });

  it("may be of a key that may name none but those of the deployment", async () => {
    expect(await create({ image: "evil.example/x:1" })).toMatchObject({ error_type: "POLICY_DENIED" });
    expect(await create({ image: "" })).toMatchObject({ error_type: "INVALID_REQUEST", context: { field: "image" } });
  });
});
