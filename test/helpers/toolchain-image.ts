import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { testImages } from "./test-images.ts";

/** What a program on this machine prints; null if there is no such program. */
export function printed(program: string, args: readonly string[]): string | null {
  try {
    return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null;
  }
}

/**
 * Makes an image with a toolchain of this machine, based on one of the tests' images. Files, folders and the targets of
 * links have the same paths in it as here.
 */
export function buildToolchainImage(
  name: string,
  { paths, environment }: { readonly paths: readonly string[]; readonly environment: string },
): void {
  const folder = mkdtempSync(path.join(tmpdir(), "glovebox-toolchain-"));
  // Folders that are links here are also links in the image.
  const there = paths.map((each) => path.join(realpathSync(path.dirname(each)), path.basename(each)));
  const dockerfile = `FROM ${testImages.python}\nCOPY root /\nENV ${environment}\n`;
  const archive = 'tar -chP --hard-dereference --transform "s#^/#root/#" -T "$1/list" -C "$1" Dockerfile';
  try {
    writeFileSync(path.join(folder, "Dockerfile"), dockerfile);
    writeFileSync(path.join(folder, "list"), [...new Set(there)].map((each) => `${each}\n`).join(""));
    const stdio = ["ignore", "ignore", "pipe"] as const;
    execFileSync("sh", ["-c", `${archive} | docker build --quiet --tag "$2" -`, "sh", folder, name], {
      stdio: [...stdio],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function removeImage(name: string): void {
  execFileSync("docker", ["rmi", "--force", name], { stdio: "ignore" });
}
