import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Engine } from "../../src/engines/engine.ts";
import { ownBun, ownPreloadFolders } from "../helpers/preload-engine.ts";
import { nearUids } from "../../src/engines/container-users.ts";
import { guardEngine } from "../../src/engines/guarded-engine.ts";
import { compileSeccompFilter } from "../../src/policy/seccomp/bpf-compiler.ts";
import type { CheckedCapabilities, Subject, SubjectImages } from "./subject.ts";

const noOtherAdapter =
  "its containers exist only in the adapter that created them: no other adapter can see or remove them";

const noIpv6 = "Docker disables IPv6 in containers without a network";

const noFilter = "our filter is not used there: a watch over the project clears the bits";

const ownKernel = "gVisor's kernel shows neither no-new-privileges nor our filter";

const noRoot = "programs are never root there: they could forge what our own process in the sandbox says";

const images: SubjectImages = {
  minimal: process.env["GLOVEBOX_TEST_IMAGE_MINIMAL"] ?? "glovebox-test/minimal:1",
  python: process.env["GLOVEBOX_TEST_IMAGE_PYTHON"] ?? "glovebox-test/python:1",
};

/** Declarations of container engines that share the host's kernel. */
const byNamespaces: CheckedCapabilities = {
  isolation: "container",
  images: true,
  hostPaths: true,
  seccomp: "yes",
  noNewPrivileges: "yes",
  setuidRefusal: "yes",
  readOnlyRoot: "yes",
  noNetwork: "yes",
  memoryLimit: "yes",
  cpuLimit: "yes",
  pidsLimit: "yes",
  scratch: "memory",
  diskLimit: { substitute: "a watch that measures the root each second and ends the sandbox" },
  oomReporting: true,
  cpuReporting: true,
  supervisor: "apart",
  execUser: true,
  execNetwork: "shared",
};

/** Every engine that the suite runs against; `contract.<name>.test.ts` runs one of them. */
export const subjects = {
  docker: {
    name: "docker",
    requirement: "docker",
    ownUsers: nearUids,
    make: () => docker(process.env),
    makeAt: (socketPath) => docker({ DOCKER_HOST: `unix://${socketPath}` }),
    removeImage: (reference) => removeImage("docker", reference),
    imageId: (reference) => imageId("docker", reference),
    images,
    environmentNames: ["PATH", "HOME", "HOSTNAME"],
    mustDeclare: byNamespaces,
    exceptions: { "connect.ipv6": noIpv6 },
    untried: {},
  },
  runsc: {
    name: "docker with runsc",
    requirement: "runsc",
    ociRuntime: "runsc",
    ownKernel: true,
    make: () => docker(process.env),
    makeAt: (socketPath) => docker({ DOCKER_HOST: `unix://${socketPath}` }),
    removeImage: (reference) => removeImage("docker", reference),
    imageId: (reference) => imageId("docker", reference),
    images,
    environmentNames: ["PATH", "HOME", "HOSTNAME"],
    mustDeclare: {
      ...byNamespaces,
      seccomp: { substitute: "gVisor's own kernel" },
      noNewPrivileges: { substitute: "gVisor's own kernel" },
      setuidRefusal: { substitute: "a watch over the project that clears the bits and alerts" },
      pidsLimit: { substitute: "`--ulimit nproc` inside gVisor" },
      diskLimit: "no",
      oomReporting: false,
    },
    exceptions: {
      "privileges.no-new-privileges": ownKernel,
      "privileges.first-process-filter": "gVisor takes no profile from an engine",
      "privileges.seccomp-denies": "gVisor's own kernel gives other errors",
      "mounts.identity":
        "mounts are not visible from the host: a project inside a folder that another sandbox can write to is refused",
      "privileges.installers": noRoot,
      "privileges.root": noRoot,
      "filesystem.read-only-for-root": noRoot,
      "exact-kill.root": noRoot,
      "privileges.setuid-bits": noFilter,
      "privileges.setuid-bits-as-root": noFilter,
      "privileges.devices": "gVisor has its own /dev/fuse and /dev/net/tun, which reach nothing on the host",
      "privileges.first-process":
        "gVisor shows environ, maps and auxv of every process to all inside; memory, root and folders are protected",
      "stopped-helpers.opened":
        "gVisor shows the descriptors of every process: the streams of a program of the same user, which that program has as well",
      "cohabitant.traces":
        "gVisor shows environ, maps and descriptors of every process to all inside; memory and tracing are protected",
      "scratch.inodes":
        "the number of files in a tmpfs cannot be limited: the memory limit stops a flood of empty ones (about 1 KB each)",
      "memory.together": "beyond the limit the host's kernel kills gVisor's, and all programs with it",
      "limits.cpu": "gVisor's CPU clock runs on while the host throttles it; by the host's count the limit holds",
      "user-shares.limits": "gVisor's own kernel counts, for its sandbox alone",
      "limits.netlink": "gVisor's own kernel has them, in the memory of its sandbox",
      "live-copy.hostile":
        "a program that kills and deletes without pause can break gVisor's memory file system, in its own sandbox only",
    },
    untried: { "limits.cpu": "a busy machine hides it", "live-copy.hostile": "it depends on timing" },
  },
  podman: {
    name: "podman",
    requirement: "podman",
    ownUsers: nearUids,
    make: () => podman(process.env["GLOVEBOX_TEST_PODMAN_SOCKET"]),
    makeAt: podman,
    removeImage: (reference) => removeImage("podman", reference),
    imageId: (reference) => imageId("podman", reference),
    images,
    environmentNames: ["PATH", "HOME", "HOSTNAME"],
    mustDeclare: byNamespaces,
    exceptions: {
      "scratch.inodes":
        "the number of files in a tmpfs cannot be limited: the memory limit stops a flood of empty ones (about 1 KB each)",
    },
    untried: {},
  },
  local: {
    name: "local",
    requirement: "local",
    make: local,
    images: { minimal: "host", python: "host" },
    environmentNames: ["PATH", "HOME", "LANG"],
    mustDeclare: {
      ...byNamespaces,
      isolation: "namespaces",
      supervisor: "apart",
      helperUser: true,
      images: false,
      diskLimit: "no",
      execUser: false,
      execNetwork: "shared",
    },
    exceptions: {
      "listing.other-adapter": noOtherAdapter,
      "losses.exec-after-loss": noOtherAdapter,
      "losses.running-exec": noOtherAdapter,
      "losses.unwatched-exec": noOtherAdapter,
      "losses.remove": noOtherAdapter,
      "losses.wait": noOtherAdapter,
      "user-shares.limits": "the programs of each container are a user of the host's of their own",
    },
    untried: {},
  },
} as const satisfies Record<string, Subject>;

async function docker(environment: NodeJS.ProcessEnv): Promise<Engine> {
  const { createDockerEngine } = await import("../../src/engines/docker/docker-engine.ts");
  return guardEngine(
    createDockerEngine({
      environment,
      platform: process.platform,
      randomInteger: randomInt,
    }),
  );
}

async function podman(socketPath: string | undefined): Promise<Engine> {
  const { createPodmanEngine } = await import("../../src/engines/podman/podman-engine.ts");
  return guardEngine(
    createPodmanEngine({
      environment: socketPath === undefined ? process.env : { CONTAINER_HOST: `unix://${socketPath}` },
      platform: process.platform,
      uid: process.getuid?.() ?? null,
      randomInteger: randomInt,
      profileFolder: join(tmpdir(), "glovebox-contract-seccomp"),
    }),
  );
}

async function local(): Promise<Engine> {
  const { createLocalEngine } = await import("../../src/engines/local/local-engine.ts");
  const architecture = process.arch;
  if (architecture !== "x64" && architecture !== "arm64") throw new Error(`No seccomp filter for ${architecture}.`);
  return guardEngine(
    createLocalEngine({
      platform: process.platform,
      architecture,
      uid: process.getuid?.() ?? -1,
      environment: process.env,
      preloadFolders: ownPreloadFolders(),
      ...ownBun(),
      seccompFilter: compileSeccompFilter(architecture),
      now: Date.now,
      randomInteger: randomInt,
    }),
  );
}

/** The interface cannot remove an image, because the product never does. */
async function removeImage(command: string, reference: string): Promise<void> {
  try {
    await promisify(execFile)(command, ["image", "rm", reference]);
  } catch (error) {
    const { stderr } = error as { readonly stderr?: unknown };
    if (!/no such image|image not known/i.test(String(stderr))) throw error;
  }
}

async function imageId(command: string, reference: string): Promise<string> {
  const { stdout } = await promisify(execFile)(command, ["image", "inspect", "--format", "{{.Id}}", reference]);
  return `sha256:${stdout.trim().replace("sha256:", "")}`;
}
