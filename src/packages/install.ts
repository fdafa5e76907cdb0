import { cancelled, throwIfCancelled, untilCancelled } from "../base/abort.ts";
import { BoundedOutput } from "../base/bounded-output.ts";
import { kibibyte } from "../base/bytes.ts";
import type { ForwarderInterpreter } from "../egress/forwarder.ts";
import type { NetworkAccess, NetworkGrant } from "../egress/network-access.ts";
import type { Engine, Process } from "../engines/engine.ts";
import type { Limits } from "../policy/limits.ts";
import { lockedPolicy } from "../policy/network/egress-policy.ts";
import type { Ecosystem } from "../policy/package-specs.ts";
import { execWithNetwork } from "../sandbox/exec-with-network.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Caller, Sandboxes } from "../sandbox/sandboxes.ts";
import { explainInstallFailure } from "./explain-install-failure.ts";
import { installFailed } from "./install-failed.ts";
import { installerPlan } from "./installer-plan.ts";
import { installCommand, installEnvironment, packCommand, type PackageManager } from "./package-manager.ts";
import { unpack, type Unpacked } from "./unpack.ts";

export interface Installation {
  readonly engine: Engine;
  readonly image: string;
  readonly ociRuntime: string | undefined;
  readonly interpreter: ForwarderInterpreter;
  readonly manager: PackageManager;
  readonly ecosystem: Ecosystem;
  readonly specs: readonly string[];
  /** Empty; gets what was installed. */
  readonly folder: string;
}

export interface InstallDependencies {
  /** Those of installers, which take no place of a run's. */
  readonly sandboxes: Sandboxes;
  readonly network: Pick<NetworkAccess, "grant">;
  readonly limits: Limits;
}

const mostOutputBytes = 64 * kibibyte;
const mostFiles = 200_000;

/**
 * Installs packages in a sandbox of their own (SPEC PK6): with the registries while the tool runs, with nothing from then
 * on, and with nothing of this host. What was installed comes out as a stream of files.
 * @throws PACKAGE_INSTALL_FAILED naming the packages and the reason, CANCELLED, and what opening a sandbox throws
 */
export async function install(
  installation: Installation,
  { sandboxes, network, limits }: InstallDependencies,
  caller: Caller,
): Promise<Unpacked> {
  const late = AbortSignal.timeout(limits.timeoutMs);
  const signal = AbortSignal.any([late, ...(caller.signal ? [caller.signal] : [])]);
  try {
    const grant = await untilCancelled(network.grant({ kind: "registries" }), signal);
    if (grant === null) throw new Error("a policy without a grant");
    const plan = installerPlan(installation, limits);
    await using sandbox = await sandboxes.open(installation.engine, plan, { ...caller, signal });
    // Whatever goes on in it ends with it, and so do we.
    const onAbort = (): void => void sandbox.remove().catch(() => undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      throwIfCancelled(signal);
      await runTool(installation, sandbox, grant, signal);
      return await unpackFrom(installation, sandbox, limits);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  } catch (error) {
    if (caller.signal?.aborted) throw cancelled(error);
    if (!late.aborted) throw error;
    throw installFailed(installation.specs, `it took longer than ${limits.timeoutMs / 1000} s`, { cause: error });
  }
}

async function runTool(
  installation: Installation,
  sandbox: Sandbox,
  grant: NetworkGrant,
  signal: AbortSignal,
): Promise<void> {
  const { manager, ecosystem, specs, interpreter } = installation;
  const { process, network } = await execWithNetwork({
    sandbox,
    program: (companion) =>
      sandbox.exec(
        {
          command: installCommand(manager, specs),
          environment: { LANG: "C.UTF-8", ...grant.environment, ...installEnvironment },
          companion,
        },
        { signal },
      ),
    grant,
    interpreter,
    onDenied: () => undefined,
    // An installation has no secret.
    redact: (text) => text,
    signal,
  });
  try {
    process.stdin.end("the network is up\n");
    const ended = await Promise.race([collect(process), network.lost]);
    if (ended === undefined) {
      throw installFailed(specs, "the egress proxy ended during the installation", {
        suggestion: "Retry: the next installation starts a fresh proxy.",
        context: { retryable: true },
      });
    }
    await network.change(lockedPolicy);
    if (ended.exitCode === 0) return;
    await network.settle();
    const { packages, reason } = explainInstallFailure({ manager, ecosystem, specs, ...ended });
    const refused = network.denials.map(({ target, rule }) => `${target} (${rule})`);
    const reasons = [reason, ...grant.warnings, ...(refused.length > 0 ? [`refused: ${refused.join(", ")}`] : [])];
    throw installFailed(packages, reasons.join("; "), {});
  } finally {
    network.close();
  }
}

async function collect(process: Process): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const kept = { stdout: new BoundedOutput(mostOutputBytes), stderr: new BoundedOutput(mostOutputBytes) };
  for await (const { stream, bytes } of process.output) kept[stream].append(bytes);
  const { exitCode } = await process.exit;
  return { exitCode, output: `${kept.stderr.text()}\n${kept.stdout.text()}` };
}

async function unpackFrom(
  { manager, interpreter, specs, folder }: Installation,
  sandbox: Sandbox,
  { diskBytes }: Limits,
): Promise<Unpacked> {
  const process = await sandbox.exec({ command: await packCommand(manager, interpreter) });
  process.stdin.end();
  try {
    return await unpack(stdoutOf(process), folder, { maxFiles: mostFiles, maxBytes: diskBytes });
  } catch (cause) {
    const why = cause instanceof RangeError ? `: ${cause.message}` : "";
    throw installFailed(specs, `what was installed cannot be kept${why}`, { cause });
  }
}

async function* stdoutOf(process: Process): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { stream, bytes } of process.output) if (stream === "stdout") yield bytes;
}
