import type { Demand } from "../../../engines/enforcement/assert-enforceable.ts";
import type { Isolation } from "../../../policy/isolation.ts";
import type { Limits } from "../../../policy/limits/limits.ts";
import type { MountPolicy } from "../../../policy/mounts/mount-policy.ts";
import type { ToolingFilesMode } from "../../../policy/tooling/tooling-files.ts";
import type { NetworkPolicy } from "../../../policy/network/network.ts";
import type { AgentCommand } from "../agent-protocol.ts";
import type { AgentFolderPaths, AgentGroup } from "../folders/agent-folders.ts";
import type { HostMount } from "../../run/folders/host-mount.ts";

/** A checked run of an agent (SPEC AG1); every value is within the policy already. */
export interface AgentSpec {
  /** Id of its sandbox where the caller knows it already; undefined: a new one. */
  readonly sandboxId?: string | undefined;
  /** What its caller has marked it with. */
  readonly labels: Readonly<Record<string, string>>;
  readonly group: AgentGroup;
  readonly prompt: string;
  /** Of an earlier run, to go on with it; undefined: a new conversation. */
  readonly sessionId: string | undefined;
  readonly agent: AgentCommand;
  readonly image: string;
  /** Whether this request asked for the image, or the group's configuration did. */
  readonly imageDemanded: boolean;
  readonly ociRuntime: string | undefined;
  readonly limits: Limits;
  readonly network: NetworkPolicy;
  readonly minIsolation: Isolation;
  readonly explicitDemands: readonly Demand[];
  readonly paths: AgentFolderPaths;
  /** Opens what the group's configuration mounts beside its own folders; the run closes it. */
  readonly openAdditional: () => Promise<readonly HostMount[]>;
  readonly mountPolicy: MountPolicy;
  /** What happens to files that tools of the folders' owner run: the deployment's choice. */
  readonly toolingFiles: ToolingFilesMode;
  /** Paths that count as such beside the built-in ones. */
  readonly toolingPaths: readonly string[];
  /** What the agent finds in its environment file; most are secrets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Newest logs of the group that stay, this run's among them. */
  readonly maxLogs: number;
  readonly memory: { readonly minRelevance: number; readonly maxCharacters: number };
}
