import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What the proxy's process is made of. */
export interface ProxyChildOptions {
  readonly platform: NodeJS.Platform;
  readonly node: {
    readonly executable: string;
    /** Those that it knows; newer ones cut programs off from the network unless told otherwise. */
    readonly flags: ReadonlySet<string>;
  };
  /** The host's variables that say which certificates it trusts; nothing else of its environment is passed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Names of variables from which Node and OpenSSL read certificates. */
const certificateVariables = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];
const maxHeapMegabytes = 256;
/** Writable memory: the heap, buffers, and what the interpreter itself needs. */
const maxDataKilobytes = 1_572_864;
const maxDescriptors = 4_096;

/** Descriptors that are given something empty: whoever started us may have left some open in us, and so in what we start. */
const maxInherited = 64;
/**
 * Run by `sh` before the interpreter: limits that the process cannot lift, and no way to more rights by a setuid file. A
 * limit that is refused stays as it was.
 */
const confine = `
ulimit -c 0; ulimit -f 0; ulimit -d ${maxDataKilobytes}; ulimit -n ${maxDescriptors}
if setpriv --no-new-privs true; then exec setpriv --no-new-privs "$@"; fi
exec "$@"
`;

/** File and arguments of the proxy's process. */
export function proxyCommand(
  { platform, node }: Pick<ProxyChildOptions, "platform" | "node">,
  { script, sources }: { readonly script: string; readonly sources: string },
): readonly [file: string, ...args: string[]] {
  const command = [
    ...["--permission", ...(node.flags.has("--allow-net") ? ["--allow-net"] : []), `--allow-fs-read=${sources}`],
    ...["--use-system-ca", "--no-warnings", "--disallow-code-generation-from-strings"],
    ...[`--max-old-space-size=${maxHeapMegabytes}`, script],
  ];
  if (platform !== "linux") return [node.executable, ...command];
  return ["/bin/sh", "-c", confine, "sh", node.executable, ...command];
}

/**
 * Starts the proxy's process, with a channel for messages. What holds it are its user (it gives root up before it reads
 * from a sandbox), the limits above and an environment of nothing; Node's permission model is one more layer, and nothing
 * depends on it.
 */
export function startProxyChild(options: ProxyChildOptions): ChildProcess {
  const isSource = import.meta.url.endsWith(".ts");
  const script = fileURLToPath(new URL(isSource ? "./proxy-main.ts" : "./proxy-main.js", import.meta.url));
  const sources = fileURLToPath(new URL("../../", import.meta.url));
  const [file, ...args] = proxyCommand(options, { script, sources });
  const known = certificateVariables.map((name) => [name, options.environment[name]] as const);
  const nothing = options.platform === "win32" ? null : openSync("/dev/null", "r");
  try {
    return spawn(file, args, {
      env: Object.fromEntries(known.filter(([, value]) => value !== undefined)),
      cwd: sources,
      stdio: [
        "ignore",
        "ignore",
        "pipe",
        "ipc",
        ...Array<number | "ignore">(maxInherited - 4).fill(nothing ?? "ignore"),
      ],
      serialization: "json",
      // Not in our process group: we handle a terminal's Ctrl-C ourselves.
      detached: true,
    });
  } finally {
    if (nothing !== null) closeSync(nothing);
  }
}
