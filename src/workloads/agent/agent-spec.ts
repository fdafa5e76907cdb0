import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { MountPolicy } from "../../policy/mounts/mount-policy.ts";
import type { ToolingFilesMode } from "../../policy/tooling-files.ts";
import type { AgentCommand } from "./agent-protocol.ts";
import type { AgentFolderPaths, AgentGroup } from "./agent-folders.ts";
import type { HostMount } from "../run/host-mount.ts";
import type { Settings } from "../run/settings.ts";

/** A checked run of an agent (SPEC AG1); every value is within the policy already. */
export interface AgentSpec extends Omit<Settings, "environment" | "hostEnvironment"> {
  readonly group: AgentGroup;
  readonly prompt: string;
  /** Conversation of an earlier run to continue; undefined: a new one. */
  readonly sessionId: string | undefined;
  readonly agent: AgentCommand;
  readonly image: string;
  /** A group's own image is configured. */
  readonly imageOrigin: ImageOrigin;
  readonly paths: AgentFolderPaths;
  /** Opens what the group's configuration mounts in addition to its own folders; the run closes it. */
  readonly openAdditional: () => Promise<readonly HostMount[]>;
  readonly mountPolicy: MountPolicy;
  /** What happens to files run by the folder owner's tools: the deployment's choice. */
  readonly toolingFiles: ToolingFilesMode;
  /** Paths that count as such in addition to the built-in ones. */
  readonly toolingPaths: readonly string[];
  /** What the agent finds in its environment file; most are secrets. */
  readonly variables: Readonly<Record<string, string>>;
  /** How many of the group's logs to keep, newest first, including this run's. */
  readonly maxLogs: number;
  readonly memory: { readonly minRelevance: number; readonly maxCharacters: number };
}
