import { cpSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { questionsOf, useRunners } from "../helpers/runner-scene.ts";
import { buildToolchainImage, printed, removeImage } from "../helpers/toolchain-image.ts";

/** What Rust needs for linking: the compiler's driver, what it starts, and the parts of every program. */
const linkerFiles = [
  ...["crt1.o", "Scrt1.o", "crti.o", "crtn.o", "crtbegin.o", "crtbeginS.o", "crtend.o", "crtendS.o"],
  ...["libc.so", "libc_nonshared.a", "libgcc.a", "libgcc_s.so", "libm.so", "liblto_plugin.so"],
  ...["libutil.a", "librt.a", "libpthread.a", "libdl.a"],
];

/** Where Rust and a linker for it are on this machine; null if missing. */
function toolchain(): { readonly root: string; readonly paths: readonly string[] } | null {
  const root = printed("rustc", ["--print", "sysroot"]);
  const linker = printed("sh", ["-c", "command -v cc"]);
  if (root === null || linker === null) return null;
  const lib = path.join(root, "lib");
  const target = readdirSync(path.join(lib, "rustlib"), { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name.includes("-linux-"),
  );
  const ownLibraries = readdirSync(lib).filter((name) => name.includes(".so"));
  const ld = printed("sh", ["-c", "command -v ld"]) ?? "";
  const needed = (printed("ldd", [ld]) ?? "").matchAll(/=> (\/\S+)/g);
  const parts = [
    ...linkerFiles.map((name) => printed("cc", [`-print-file-name=${name}`])),
    ...["collect2", "lto-wrapper"].map((name) => printed("cc", [`-print-prog-name=${name}`])),
  ];
  return {
    root,
    paths: [
      ...["cargo", "rustc", "rustdoc"].map((name) => path.join(root, "bin", name)),
      ...ownLibraries.map((name) => path.join(lib, name)),
      ...target.map(({ name }) => path.join(lib, "rustlib", name)),
      ...[linker, ld, ...[...needed].map(([, library = ""]) => library).filter((name) => !/\/libc\.so/.test(name))],
      ...parts.flatMap((file) => (file?.startsWith("/") === true ? [file] : [])),
    ],
  };
}

describe.each(["docker"] as const)("a project in Rust on %s", (engine) => {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-cargo-project-")));
  const project = path.join(folder, "cargo");
  const image = `glovebox-test-cargo:${createId("cargo")}`;
  const tools = toolchain();
  const glovebox = useGlovebox(engine, { workingDirectory: folder });
  const expectAnswer = useRunners(engine);
  beforeAll(() => {
    cpSync(path.join(projectFolder, "test/fixtures/test-projects/cargo"), project, { recursive: true });
    if (tools === null) return;
    buildToolchainImage(image, { paths: tools.paths, environment: `PATH=${tools.root}/bin:$PATH` });
    return () => removeImage(image);
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it("is tested inside, and counted as Cargo counts", { timeout: 300_000 }, async (context) => {
    if (tools === null) return context.skip("this machine has no Rust, or no linker for it");
    const response = await glovebox().test({ project_path: project, test_command: "cargo test", image });
    expect(response, response.output).toMatchObject({
      ...{ verdict: "failed", counted: true, counted_from: "output", runners: ["cargo"], exit_code: 101 },
      ...{ passed: 2, failed: 1, skipped: 1, errors: 0 },
    });
    expect(response.output).toContain("test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured");
    expect(response.failures).toEqual([
      {
        ...{ name: "tests::fails", file: "src/lib.rs", line: 20, message: "assertion `left == right` failed" },
        details: expect.stringMatching(/left: "actual"[^]*right: "expected"/),
      },
    ]);
  });

  it.for(questionsOf("cargo"))("%s", { timeout: 300_000 }, async ([, asked], context) => {
    if (tools === null) return context.skip("this machine has no Rust, or no linker for it");
    await expectAnswer(asked, { image });
  });
});
