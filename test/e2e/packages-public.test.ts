import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { npmRegistryFault } from "../helpers/npm-registry.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";

const npmFault = npmRegistryFault();
const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-packages-")));
afterAll(() => execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", directory]));

describe.each(engines)("packages of this machine's npm registry on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: testImages, packages: { directory } } });
  beforeEach((context) => {
    if (npmFault !== null) context.skip(npmFault);
  });

  it("with native parts, a scope or a pinned version resolve in the code", async () => {
    const response = await glovebox().execute({
      language: "typescript",
      packages: ["@node-rs/crc32", "@sindresorhus/is@7.0.0", "lodash@4.17.21"],
      code: `
import { crc32 } from "@node-rs/crc32";
import is from "@sindresorhus/is";
import lodash from "lodash";
console.log(crc32("hello"), is.string("text"), lodash.VERSION);
`,
    });
    expect(response.stdout, response.stderr).toBe("907060870 true 4.17.21\n");
    expect(response.packages_installed?.slice(1)).toEqual(["@sindresorhus/is@7.0.0", "lodash@4.17.21"]);
  });

  it("in a version that does not exist are named", async () => {
    const failing = glovebox().execute({ language: "javascript", packages: ["lodash@99.9.9"], code: "1" });
    await expect(failing).rejects.toMatchObject({
      errorType: "PACKAGE_INSTALL_FAILED",
      context: { packages: ["lodash@99.9.9"], reason: expect.stringContaining("lodash") },
    });
  });
});
