import type { Configuration } from "../container/configuration.ts";
import { mebibyte } from "../container/sizes.ts";
import type { Work } from "../context.ts";
import type { Found } from "../docker/containers.ts";
import { hasBuilder, setBuilder } from "../state/builder.ts";
import { containerJson } from "../container/container-json.ts";
import { printList } from "./print-list.ts";

/** The container that builds images, as lists show it; Docker has none, since it builds by itself. */
export function builderContainer(): Found {
  const configuration: Configuration = {
    id: "buildkit",
    createdMs: 0,
    image: {
      reference: "apple/container-builder-shim/builder:latest",
      digest: `sha256:${"0".repeat(64)}`,
      sizeBytes: 0,
    },
    argv: ["/usr/local/bin/container-builder-shim"],
    environment: [],
    workingDirectory: "/",
    user: "0:0",
    isUserById: true,
    supplementalGroups: [],
    terminal: false,
    interactive: false,
    rlimits: [],
    capAdd: [],
    capDrop: [],
    labels: { "com.apple.container.resource.role": "builder" },
    mounts: [],
    networks: [{ network: "default", mtu: 1280 }],
    ports: [],
    dns: null,
    platform: { os: "linux", architecture: "arm64" },
    cpus: 2,
    memoryBytes: 2048 * mebibyte,
    sharedMemoryBytes: undefined,
    readOnly: false,
    init: false,
    remove: false,
    ssh: false,
    virtualization: false,
    rosetta: false,
    stopSignal: undefined,
    maskedPaths: undefined,
    readOnlyPaths: undefined,
  };
  return {
    configuration,
    status: { state: "running", startedMs: 0, attachments: [] },
    name: "",
  };
}

export const startBuilder: Work = async ({ folder }) => setBuilder(folder, true);

export const removeBuilder: Work = async ({ folder }) => setBuilder(folder, false);

/** Shows the builder, or that there is none; neither is a failure. */
export const builderStatus: Work = async (context) => {
  const { folder, options, say, settings } = context;
  if (!hasBuilder(folder)) {
    say.out(options.one("format") === "json" ? "[]" : "builder is not running");
    return;
  }
  const { configuration, status } = builderContainer();
  const { id, image, cpus } = configuration;
  printList(context, {
    json: [containerJson(settings.version, configuration, status)],
    names: [id],
    header: ["ID", "IMAGE", "STATE", "CPUS"],
    rows: [[id, image.reference, status.state, String(cpus)]],
  });
};
