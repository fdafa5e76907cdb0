import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadHostConfig } from "../../src/config/load-config.ts";
import type { ExecuteResponse, RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { executeCodeContract } from "../../src/operations/execute-contract.ts";
import { executeCodeHandler } from "../../src/operations/execute-handler.ts";
import { parseRequest } from "../../src/operations/contract/parse-request.ts";
import { runCodeContract } from "../../src/operations/session-contract.ts";
import { runCodeHandler } from "../../src/operations/session-handler.ts";
import { createPlatform, type Platform } from "../../src/platform/platform.ts";
import { buildHostileImage } from "../helpers/hostile-image.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { sessionImages } from "../helpers/test-images.ts";

const registry = await PackageRegistry.start();
registry.addNpm({ name: "gb-word", version: "1.0.0", files: { "index.js": "module.exports = 'true';\n" } });
registry.addNpm({ name: "gb-other", version: "1.0.0", files: { "index.js": "module.exports = 'true';\n" } });
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-packages-")));
afterAll(() => {
  registry[Symbol.dispose]();
  execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]);
});

/** Forges whatever it is asked to install, and contacts the registry itself. */
const forge = `
for package in gb-word gb-other; do
  mkdir -p node_modules/$package
  echo '{"version":"1.0.0"}' >node_modules/$package/package.json
  echo "module.exports = 'POISONED by another image';" >node_modules/$package/index.js
done
node -e 'fetch(process.env.npm_config_registry + "called-by-the-image").catch(() => {})' || :
exit 0
`;
const forges = `case "$1" in (add|install)${forge};; esac\n`;

/** The local engine's name for its Bun's platform, which a forged interpreter also claims. */
function claims(platform: string): string {
  const answer = JSON.stringify({ manager: "bun", platform });
  return `case "$2" in (*ld-musl*) echo '${answer}'; exit 0;; esac\n`;
}

const word = "import word from 'gb-word';\nconsole.log(word);";

describe.each(["docker", "podman"] as const)("packages that a caller's own image on %s installs", (engine) => {
  useGlovebox(engine);
  const directory = path.join(folder, engine);
  const settings = { images: sessionImages, network: registry.network, packages: { directory } };
  let platform: Platform;
  let onLocal: Platform;
  let hostile: Awaited<ReturnType<typeof buildHostileImage>>;
  let localPlatform = "";

  beforeAll(async () => {
    const { config, host } = await loadHostConfig({ settings });
    const open = (name: string): Promise<Platform> =>
      createPlatform({ config, host, door: "person", defaultEngine: name });
    [platform, onLocal] = await Promise.all([open(engine), open("local")]);
    // Its set has the same list of packages, but stays unused below.
    await execute(onLocal, { packages: ["gb-other"], code: "1" });
    localPlatform = (await onLocal.packages.list())[0]?.record.platform ?? "";
    hostile = await buildHostileImage((await platform.chooseEngine(engine)).engine, sessionImages.session, {
      programs: {
        npm: forges,
        bun: `${forges}${claims(localPlatform)}exec /usr/local/bin/bun "$@"`,
        node: `${claims(localPlatform)}exec /usr/local/bin/bun "$@"`,
      },
    });
    return async () => {
      await hostile.remove();
      await Promise.all([platform.close(), onLocal.close()]);
    };
  });
  beforeEach(() => registry.forget());

  const execute = (where: Platform, request: object, principal = "ann"): Promise<ExecuteResponse> =>
    executeCodeHandler.run(
      where,
      parseRequest(executeCodeContract, { language: "typescript", timeout_seconds: 30, ...request }),
      { principal },
    );
  const call = (where: Platform, connection: string, request: object): Promise<RunCodeResponse> =>
    runCodeHandler.run(where, parseRequest(runCodeContract, request), { principal: "ann", connection });
  const poisoning = (): object => ({ packages: ["gb-word"], code: word, image: hostile.reference });

  it("are refused where the run may not reach the registries, and none of the image's code gets there", async () => {
    for (const network of [undefined, "none", ["example.com"]]) {
      const ended = await execute(platform, { ...poisoning(), network }).catch((error: unknown) => error);
      expect(ended).toMatchObject({
        errorType: "POLICY_DENIED",
        message: expect.stringContaining(hostile.reference),
        suggestion: expect.stringContaining('network: "registries"'),
        context: { field: "packages", setting: "images" },
      });
    }
    await expect(call(platform, "refused", poisoning())).rejects.toMatchObject({ errorType: "POLICY_DENIED" });
    // What was not requested is left out, and the import fails.
    expect(await call(platform, "refused", { code: word, image: hostile.reference })).toMatchObject({
      outcome: "failed",
      stderr: expect.stringContaining("gb-word"),
    });
    expect(registry.requests).toEqual([]);
  });

  it("are for nobody else: not for the operator's images, another principal, another engine or a session", async () => {
    const asked = { ...poisoning(), network: "registries" };
    const forged = await call(platform, "attacker", asked);
    expect(forged.stdout, forged.stderr).toBe("POISONED by another image\n");
    expect(registry.requests.join()).toContain("called-by-the-image");
    const sets = await platform.packages.list();
    // The image says the same about itself as the local engine.
    expect(sets.find(({ record }) => record.requested.includes("gb-word"))?.record).toMatchObject({
      manager: "bun",
      platform: localPlatform,
      origin: { engine, principal: "ann" },
    });

    registry.forget();
    const importing = { packages: ["gb-word"], code: word };
    const victims = [
      await execute(platform, importing),
      await call(platform, "victim", importing),
      await execute(onLocal, importing),
      await call(onLocal, "victim", importing),
    ];
    for (const { stdout, stderr } of victims) expect(stdout, stderr).toBe("true\n");
    expect(registry.requests.join()).not.toContain("called-by-the-image");

    registry.forget();
    await execute(platform, { ...asked, code: "1" }, "ann").catch(() => undefined);
    expect(registry.requests.join()).not.toContain("called-by-the-image");
    await execute(platform, { ...asked, code: "1" }, "bob").catch(() => undefined);
    expect(registry.requests.join()).toContain("called-by-the-image");
  });

  it("by an image from the settings are for everyone, whatever the run may reach", async () => {
    const named = { packages: ["gb-other"], code: "import word from 'gb-other';\nconsole.log(word);" };
    const first = await execute(platform, named);
    registry.forget();
    const second = await execute(platform, { ...named, image: sessionImages.typescript, network: "none" }, "bob");
    expect([first.stdout, second.stdout]).toEqual(["true\n", "true\n"]);
    expect(registry.requests).toEqual([]);
  });
});
