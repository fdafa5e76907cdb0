import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { SyscallArchitecture } from "../../policy/seccomp/syscalls.ts";
import { supervisorBuild, supervisorHashes } from "./supervisor-builds.ts";

/** Where containers have the supervisor: a folder that no image has. */
export const supervisorFolder = "/.glovebox";
/** The supervisor by its path inside, where it arrives alone. */
export const supervisorPath: string = `${supervisorFolder}/supervisor`;

/** The supervisor's program for one architecture, as the package ships it. */
export interface SupervisorBinary {
  readonly architecture: SyscallArchitecture;
  /** Absolute path of the file: static, executable, some 90 kB. */
  readonly path: string;
  /** What HELLO says: 32 hexadecimal digits that stand for sources and compiler, the same for every architecture. */
  readonly build: string;
  /** SHA-256 of the file's bytes, 64 hexadecimal digits. */
  readonly sha256: string;
}

/** Names of processors, as Node, engines, images and kernels say them. */
const architectures: Readonly<Record<string, SyscallArchitecture>> = {
  x64: "x64",
  amd64: "x64",
  x86_64: "x64",
  arm64: "arm64",
  aarch64: "arm64",
};

/**
 * The supervisor for sandboxes of an architecture: `x64` or `arm64`, or what engines and kernels call them (`amd64`,
 * `x86_64`, `aarch64`).
 * @throws GloveboxError UNSUPPORTED for any other one
 */
export function supervisorBinary(architecture: string): SupervisorBinary {
  const known = Object.hasOwn(architectures, architecture) ? architectures[architecture] : undefined;
  if (known === undefined) {
    throw new GloveboxError(
      "UNSUPPORTED",
      `There is no supervisor for sandboxes of the architecture ${JSON.stringify(architecture)}: expected x64 or arm64.`,
    );
  }
  const path = fileURLToPath(new URL(`../../../supervisor/bin/supervisor-${known}`, import.meta.url));
  return { architecture: known, path, build: supervisorBuild, sha256: supervisorHashes[known] };
}

/**
 * The program's bytes, which are the shipped ones: where they come to is named by their hash, or expects their build.
 * @throws GloveboxError INTERNAL when the file is another one, as after an upgrade
 */
export async function readSupervisor({ path, sha256 }: Pick<SupervisorBinary, "path" | "sha256">): Promise<Buffer> {
  const program = await readFile(path);
  if (createHash("sha256").update(program).digest("hex") === sha256) return program;
  throw new GloveboxError("INTERNAL", "Glovebox's own files have been changed since it was started.", {
    suggestion: "Restart Glovebox; if it was not upgraded meanwhile, install it anew.",
  });
}
