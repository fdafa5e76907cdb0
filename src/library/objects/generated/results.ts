// Written by scripts/write-library-options.ts from the operations' schemas.

/** What came of a program. */
export interface ExecuteResult {
  /** The one verdict. */
  readonly outcome:
    | "completed"
    | "failed"
    | "timed_out"
    | "oom_killed"
    | "cancelled"
    | "policy_denied"
    | "sandbox_lost";
  /** 128 + N if killed by signal N; null when the sandbox was lost. */
  readonly exitCode: number | null;
  /** Time of the program itself. */
  readonly durationMs: number;
  /** Highest use observed, in MiB; null if none was. */
  readonly memoryUsedMb: number | null;
  readonly timedOut: boolean;
  /** Whether output beyond the limit was dropped. */
  readonly truncated: boolean;
  readonly engine: string;
  /** How strongly this run was isolated. */
  readonly isolation: "preload" | "namespaces" | "container" | "vm";
  /** The OCI runtime that was requested and used. */
  readonly ociRuntime?: string | undefined;
  /** Identifies this run's policy in the store. */
  readonly policyDigest?: string | undefined;
  /** Substitutes and reductions that applied to this run. */
  readonly warnings: readonly string[];
  /** Alerts of its sandbox while it ran; the newest 20. */
  readonly alerts?: readonly Alert[] | undefined;
  readonly error?: RunError | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly sandboxId: string;
  /** The packages asked for in the versions that the program had, from the cache or freshly installed. */
  readonly packagesInstalled?: readonly string[] | undefined;
  readonly artifacts?: readonly Artifact[] | undefined;
}

/** What came of a project's tests. */
export interface TestsResult {
  /** passed: only where a report shows it and the exit code confirms it. */
  readonly verdict: "passed" | "failed" | "nothing_ran" | "could_not_run" | "timed_out" | "oom_killed";
  /** Why this verdict, in a sentence. */
  readonly reason: string;
  readonly passed: number | null;
  readonly failed: number | null;
  readonly skipped: number | null;
  readonly todo: number | null;
  /** Neither good nor bad, such as pytest's xfailed and xpassed. */
  readonly other: number | null;
  /** Files that could not be loaded, and tests whose set-up failed. */
  readonly errors: number | null;
  /** Whether tests were counted; if not, the numbers are null. */
  readonly counted: boolean;
  /** output: from all that a runner without a report printed (cargo). reportFile: from the file that the request names, which nothing signs. summary: from the last line of one that left none, which any program can print. */
  readonly countedFrom?: "report" | "output" | "report_file" | "summary" | undefined;
  /** Test runners that reported. */
  readonly runners: readonly string[];
  /** The first 100 tests that failed or could not be tried. */
  readonly failures: readonly {
    /** With the groups that it stands in. */
    readonly name: string;
    readonly file: string | null;
    readonly line: number | null;
    readonly message: string;
    /** The stack, and what was expected and came. */
    readonly details: string;
  }[];
  /** Percent of lines, where the runner measured it. */
  readonly coverage?: number | undefined;
  /** How the command ended. */
  readonly outcome:
    | "completed"
    | "failed"
    | "timed_out"
    | "oom_killed"
    | "cancelled"
    | "policy_denied"
    | "sandbox_lost";
  /** 128 + N if killed by signal N; null when the sandbox was lost. */
  readonly exitCode: number | null;
  /** Time of the program itself. */
  readonly durationMs: number;
  /** Highest use observed, in MiB; null if none was. */
  readonly memoryUsedMb: number | null;
  readonly timedOut: boolean;
  /** Whether output beyond the cap was dropped; read_logs has more. */
  readonly truncated: boolean;
  readonly engine: string;
  /** How strongly this run was isolated. */
  readonly isolation: "preload" | "namespaces" | "container" | "vm";
  /** The OCI runtime that was requested and used. */
  readonly ociRuntime?: string | undefined;
  /** Identifies this run's policy in the store. */
  readonly policyDigest?: string | undefined;
  /** Substitutes and reductions that applied to this run. */
  readonly warnings: readonly string[];
  /** Alerts of its sandbox while it ran; the newest 20. */
  readonly alerts?: readonly Alert[] | undefined;
  readonly error?: RunError | undefined;
  /** Both streams as they came, up to the cap. */
  readonly output: string;
  /** The whole report in the formats that were requested. */
  readonly report?:
    | {
        readonly ctrf?: string | undefined;
        readonly junit?: string | undefined;
      }
    | undefined;
  /** Left out where the engine has no images. */
  readonly image?: string | undefined;
  /** What was run to install. */
  readonly setupCommand?: string | undefined;
  /** What was run. */
  readonly testCommand: string;
  /** Left out where none was started. */
  readonly sandboxId?: string | undefined;
}

/** What came of a coding agent's run. */
export interface AgentResult {
  /** success: the agent ended well and said so. */
  readonly status: "success" | "error";
  /** The agent's final answer. */
  readonly result: string | null;
  /** Send it as agentSessionId to continue. */
  readonly newSessionId?: string | undefined;
  /** What the agent says went wrong. */
  readonly agentError?: string | undefined;
  /** The one verdict. */
  readonly outcome:
    | "completed"
    | "failed"
    | "timed_out"
    | "oom_killed"
    | "cancelled"
    | "policy_denied"
    | "sandbox_lost";
  /** 128 + N if killed by signal N; null when the sandbox was lost. */
  readonly exitCode: number | null;
  /** Time of the program itself. */
  readonly durationMs: number;
  /** Highest use observed, in MiB; null if none was. */
  readonly memoryUsedMb: number | null;
  readonly timedOut: boolean;
  /** Whether output beyond the limit was dropped. */
  readonly truncated: boolean;
  readonly engine: string;
  /** How strongly this run was isolated. */
  readonly isolation: "preload" | "namespaces" | "container" | "vm";
  /** The OCI runtime that was requested and used. */
  readonly ociRuntime?: string | undefined;
  /** Identifies this run's policy in the store. */
  readonly policyDigest?: string | undefined;
  /** Substitutes and reductions that applied to this run. */
  readonly warnings: readonly string[];
  /** Alerts of its sandbox while it ran; the newest 20. */
  readonly alerts?: readonly Alert[] | undefined;
  readonly error?: RunError | undefined;
  /** What the agent said and did, line by line. */
  readonly output: string;
  readonly stderr: string;
  /** Its log, from the folder of all groups. */
  readonly log: string;
  readonly image: string;
  readonly sandboxId: string;
  /** Files that tools of the folders' owner run by themselves and that the agent changed, by their paths in its container; of many in one folder the folder; at most 100: to be looked at before such a tool is used there. */
  readonly toolingFiles: readonly {
    /** From the project's folder, or in an agent's container. */
    readonly path: string;
    readonly change: "new" | "changed" | "removed";
  }[];
}

/** What came of a program in a session. */
export interface SessionRunResult {
  /** Names the session: its files are there for the next call that gives it. */
  readonly sessionId: string;
  /** The sandbox that ran it; the same as sandboxId. */
  readonly containerId: string;
  /** Whether the session's sandbox is a new one; a warning says what became of its files. */
  readonly restarted: boolean;
  /** The packages of this call in the versions that it had, from the cache or freshly installed. */
  readonly packagesInstalled: readonly string[];
  /** With keepVariables: the value of the last expression, what `display` was given, and open plots. */
  readonly displays?:
    | readonly {
        /** Which of the values that were shown this is a form of, from 0. */
        readonly value: number;
        /** Whether that is the value of the last expression. */
        readonly isResult: boolean;
        /** text/plain, text/html, text/markdown, text/latex, application/json, image/svg+xml, image/png, image/jpeg; of figures and tables also their numbers, as application/vnd.glovebox.chart+json and .table+json. */
        readonly mediaType: string;
        readonly encoding: "utf8" | "base64";
        readonly content: string;
      }[]
    | undefined;
  /** With keepVariables: the exception that ended the program, in the program's own words. */
  readonly exception?:
    | {
        /** Such as ValueError; of a thrown value that is no error, its type. */
        readonly name: string;
        /** Its message. */
        readonly value: string;
        /** As on standard error; of a long one without its middle. */
        readonly traceback: string;
      }
    | undefined;
  /** With keepVariables: the context that has its variables. */
  readonly context?: string | undefined;
  /** With keepVariables: whether variables of earlier calls, or of this one, are gone; a warning says why. */
  readonly variablesLost?: boolean | undefined;
  /** The one verdict. */
  readonly outcome:
    | "completed"
    | "failed"
    | "timed_out"
    | "oom_killed"
    | "cancelled"
    | "policy_denied"
    | "sandbox_lost";
  /** 128 + N if killed by signal N; null when the sandbox was lost. */
  readonly exitCode: number | null;
  /** Time of the program itself. */
  readonly durationMs: number;
  /** Highest use observed, in MiB; null if none was. */
  readonly memoryUsedMb: number | null;
  readonly timedOut: boolean;
  /** Whether output beyond the limit was dropped. */
  readonly truncated: boolean;
  readonly engine: string;
  /** How strongly this run was isolated. */
  readonly isolation: "preload" | "namespaces" | "container" | "vm";
  /** The OCI runtime that was requested and used. */
  readonly ociRuntime?: string | undefined;
  /** Identifies this run's policy in the store. */
  readonly policyDigest?: string | undefined;
  /** Substitutes and reductions that applied to this run. */
  readonly warnings: readonly string[];
  /** Alerts of its sandbox while it ran; the newest 20. */
  readonly alerts?: readonly Alert[] | undefined;
  readonly error?: RunError | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly sandboxId: string;
}

/** What came of a command. */
export interface CommandResult {
  /** The one verdict. */
  readonly outcome:
    | "completed"
    | "failed"
    | "timed_out"
    | "oom_killed"
    | "cancelled"
    | "policy_denied"
    | "sandbox_lost";
  /** 127: no such program; 128 + N if killed by signal N; null when the container was lost. */
  readonly exitCode: number | null;
  /** The newest 64 KiB. */
  readonly stdoutTail: string;
  /** The newest 64 KiB. */
  readonly stderrTail: string;
  /** Bytes that came before stdoutTail. */
  readonly stdoutDroppedBytes: number;
  readonly stderrDroppedBytes: number;
  readonly durationMs: number;
  readonly timedOut: boolean;
  /** Identifies this run's policy in the store. */
  readonly policyDigest: string;
  /** The environment has another container than at the command before: files outside /workdir are fresh. */
  readonly restarted: boolean;
  /** Files that tools of the project's owner run by themselves and that changed while the command ran; of many in one folder the folder; at most 100: to be looked at before such a tool is used there. */
  readonly toolingFiles: readonly {
    /** From the project's folder, or in an agent's container. */
    readonly path: string;
    readonly change: "new" | "changed" | "removed";
  }[];
  readonly warnings: readonly string[];
  /** Alerts of its sandbox while it ran; the newest 20. */
  readonly alerts?: readonly Alert[] | undefined;
  readonly error?: RunError | undefined;
}

/** What came of a program in a live sandbox. */
export interface ExecResult {
  readonly sandboxId: string;
  /** 127: no such program; 128 + N for death by signal N. */
  readonly exitCode: number;
  /** At most max_output_bytes of the configuration; the rest is dropped. */
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
}

/** How a program in a terminal ended. */
export interface TerminalResult {
  readonly sandboxId: string;
  readonly exitCode: number;
}

/** A session as it was opened. */
export interface SessionDetails {
  readonly sessionId: string;
  /** What its caller named it; null: nothing. */
  readonly name: string | null;
  readonly engine: string;
  /** The image that its sandbox has on engines with images. */
  readonly image: string;
  readonly ociRuntime?: string | undefined;
  /** The weakest isolation that its programs run at. */
  readonly minIsolation: "preload" | "namespaces" | "container" | "vm";
  /** The sandbox it lives in now; null while it has none. */
  readonly sandboxId: string | null;
  /** Of its sandbox; timeoutSeconds is the default of its calls. */
  readonly limits: {
    readonly cpus: number;
    readonly memoryMb: number;
    readonly timeoutSeconds: number;
    readonly pids: number;
    readonly diskMb: number;
  };
  /** Whether variables last from call to call. */
  readonly keepVariables: boolean;
  /** Folder that its programs start in, and whose files are kept. */
  readonly home: string;
  readonly labels: Readonly<Record<string, string>>;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Background processes. */
  readonly runningProcesses: number;
  readonly warnings: readonly string[];
}

/** A context of a session that keeps variables. */
export interface ContextRow {
  /** Its name. */
  readonly context: string;
  /** Default of its calls; those of bun and node may be TypeScript or JavaScript. */
  readonly language: "python" | "javascript" | "typescript";
  readonly runtime: "python" | "node" | "bun";
  /** The folder in which its interpreter begins. */
  readonly cwd: string;
  /** Whether its interpreter is alive, and with it its variables. */
  readonly running: boolean;
  /** RFC 3339. */
  readonly createdAt: string;
  /** When a call last began or ended in it, RFC 3339; null: none has. */
  readonly lastUsedAt: string | null;
}

/** A session as a list shows it. */
export interface SessionRow {
  readonly sessionId: string;
  /** What its caller named it; null: nothing. */
  readonly name: string | null;
  readonly engine: string;
  /** The image that its sandbox has on engines with images. */
  readonly image: string;
  readonly ociRuntime?: string | undefined;
  /** The weakest isolation that its programs run at. */
  readonly minIsolation: "preload" | "namespaces" | "container" | "vm";
  /** The sandbox it lives in now; null while it has none. */
  readonly sandboxId: string | null;
  /** Of its sandbox; timeoutSeconds is the default of its calls. */
  readonly limits: {
    readonly cpus: number;
    readonly memoryMb: number;
    readonly timeoutSeconds: number;
    readonly pids: number;
    readonly diskMb: number;
  };
  /** Whether variables last from call to call. */
  readonly keepVariables: boolean;
  /** Folder that its programs start in, and whose files are kept. */
  readonly home: string;
  readonly labels: Readonly<Record<string, string>>;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Background processes. */
  readonly runningProcesses: number;
}

/** An environment as it was created. */
export interface EnvironmentDetails {
  readonly envId: string;
  /** The engine's id of the container. */
  readonly containerId: string;
  readonly sandboxId: string;
  /** Where the project is, and where commands start. */
  readonly mountPath: string;
  readonly image: string;
  readonly engine: string;
  readonly isolation: "preload" | "namespaces" | "container" | "vm";
  readonly ociRuntime?: string | undefined;
  /** Of its container; timeoutSeconds is the default of its commands. */
  readonly limits: {
    readonly cpus: number;
    readonly memoryMb: number;
    readonly timeoutSeconds: number;
    readonly pids: number;
    readonly diskMb: number;
  };
  /** What its programs may reach, as requested. */
  readonly network: string | readonly string[];
  /** Whether the project cannot be changed. */
  readonly readOnly: boolean;
  readonly toolingFiles: "named" | "locked";
  /** Substitutes and reductions that apply. */
  readonly warnings: readonly string[];
}

/** An environment as a list shows it. */
export interface EnvironmentRow {
  readonly envId: string;
  /** What its caller named it; null: nothing. */
  readonly name: string | null;
  /** Null while it has none: the next command starts one. */
  readonly containerId: string | null;
  readonly mountPath: string;
  readonly image: string;
  readonly engine: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly readOnly: boolean;
  readonly runningCommands: number;
  /** Background processes. */
  readonly runningProcesses: number;
}

/** A preview as it is at one moment. */
export interface PreviewDetails {
  /** Identifies the preview, and its sandbox in read_logs and get_metrics. */
  readonly containerId: string;
  /** The same. */
  readonly sandboxId: string;
  /** What its caller named it; null: nothing. */
  readonly name: string | null;
  /** Its address for a browser: a separate origin with an unguessable name. Show it in full. */
  readonly url: string;
  /** On 127.0.0.1 of the server's machine, for tools that do not know names below localhost. */
  readonly directUrl?: string | undefined;
  /** What the command listens on, inside. */
  readonly port: number;
  /** running: only while the port answers. error: read error and logs. */
  readonly status: "starting" | "running" | "error";
  /** The newest output, at most 64 KiB, of the installation too; read_logs has more. */
  readonly logs: string;
  /** Left out before it is known. */
  readonly engine?: string | undefined;
  readonly isolation?: "preload" | "namespaces" | "container" | "vm" | undefined;
  /** Left out where the engine has no images. */
  readonly image?: string | undefined;
  /** What was run to install. */
  readonly setupCommand?: string | undefined;
  /** When the command began. */
  readonly startedAt?: string | undefined;
  /** When it ends by itself, at the latest. */
  readonly endsAt?: string | undefined;
  readonly warnings: readonly string[];
  /** Alerts of its sandbox while it ran; the newest 20. */
  readonly alerts?: readonly Alert[] | undefined;
  /** Why the status is error. */
  readonly error?: RunError | undefined;
}

/** What was stopped. */
export interface StoppedPreview {
  readonly containerId: string;
  /** Its newest output. */
  readonly logs: string;
}

/** A background process as it was started. */
export interface StartedProcess {
  readonly processId: string;
  readonly command: readonly string[];
  /** lost: its container was lost. */
  readonly state: "running" | "exited" | "lost";
  /** 128 + N if killed by signal N; null while it runs and when it was lost. */
  readonly exitCode: number | null;
  readonly startedAt: string;
  /** Its ports, each with where it is reached on the server's machine while the process runs. */
  readonly ports: readonly {
    readonly port: number;
    readonly url: string;
  }[];
  /** In an environment: files that tools of the project's owner run by themselves and that have changed since the process was started; of many in one folder the folder; at most 100. */
  readonly toolingFiles?:
    | readonly {
        /** From the project's folder, or in an agent's container. */
        readonly path: string;
        readonly change: "new" | "changed" | "removed";
      }[]
    | undefined;
  /** Why not all of these files could be compared, and what to do; missing: all were. */
  readonly toolingUnseen?: readonly string[] | undefined;
  readonly envId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** In a session: whether its sandbox is a new one. */
  readonly restarted?: boolean | undefined;
  readonly warnings: readonly string[];
}

/** A background process as a list shows it. */
export interface ProcessDetails {
  readonly processId: string;
  readonly command: readonly string[];
  /** lost: its container was lost. */
  readonly state: "running" | "exited" | "lost";
  /** 128 + N if killed by signal N; null while it runs and when it was lost. */
  readonly exitCode: number | null;
  readonly startedAt: string;
  /** Its ports, each with where it is reached on the server's machine while the process runs. */
  readonly ports: readonly {
    readonly port: number;
    readonly url: string;
  }[];
  /** In an environment: files that tools of the project's owner run by themselves and that have changed since the process was started; of many in one folder the folder; at most 100. */
  readonly toolingFiles?:
    | readonly {
        /** From the project's folder, or in an agent's container. */
        readonly path: string;
        readonly change: "new" | "changed" | "removed";
      }[]
    | undefined;
  /** Why not all of these files could be compared, and what to do; missing: all were. */
  readonly toolingUnseen?: readonly string[] | undefined;
  readonly stdout?:
    | {
        /** Where the text starts in the stream, in bytes; higher than requested if older output was dropped. */
        readonly offset: number;
        readonly text: string;
        /** Continue from here. */
        readonly nextOffset: number;
        /** Bytes the stream has had so far. */
        readonly totalBytes: number;
        /** Whether nothing follows. */
        readonly isOver: boolean;
      }
    | undefined;
  readonly stderr?:
    | {
        /** Where the text starts in the stream, in bytes; higher than requested if older output was dropped. */
        readonly offset: number;
        readonly text: string;
        /** Continue from here. */
        readonly nextOffset: number;
        /** Bytes the stream has had so far. */
        readonly totalBytes: number;
        /** Whether nothing follows. */
        readonly isOver: boolean;
      }
    | undefined;
}

/** What was written to a process. */
export interface WrittenInput {
  readonly envId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly processId: string;
  readonly writtenBytes: number;
  readonly closed: boolean;
}

/** How a process ended. */
export interface StoppedProcess {
  readonly processId: string;
  readonly command: readonly string[];
  /** lost: its container was lost. */
  readonly state: "running" | "exited" | "lost";
  /** 128 + N if killed by signal N; null while it runs and when it was lost. */
  readonly exitCode: number | null;
  readonly startedAt: string;
  /** Its ports, each with where it is reached on the server's machine while the process runs. */
  readonly ports: readonly {
    readonly port: number;
    readonly url: string;
  }[];
  /** In an environment: files that tools of the project's owner run by themselves and that have changed since the process was started; of many in one folder the folder; at most 100. */
  readonly toolingFiles?:
    | readonly {
        /** From the project's folder, or in an agent's container. */
        readonly path: string;
        readonly change: "new" | "changed" | "removed";
      }[]
    | undefined;
  /** Why not all of these files could be compared, and what to do; missing: all were. */
  readonly toolingUnseen?: readonly string[] | undefined;
  readonly envId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly warnings: readonly string[];
}

/** A folder's entries. */
export interface FileList {
  readonly envId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Whether its sandbox is a new one, without files that only the last one had. */
  readonly restarted: boolean;
  readonly warnings: readonly string[];
  readonly files: readonly {
    readonly path: string;
    readonly type: "file" | "folder" | "link" | "other";
    readonly sizeBytes: number;
  }[];
  /** Whether there are more than are listed. */
  readonly truncated: boolean;
}

/** A file, or a piece of it. */
export interface FileContent {
  readonly envId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Whether its sandbox is a new one, without files that only the last one had. */
  readonly restarted: boolean;
  readonly warnings: readonly string[];
  readonly path: string;
  readonly content: string;
  readonly encoding: "utf8" | "base64";
  /** Of the whole file. */
  readonly sizeBytes: number;
  /** Whether the file goes on behind what was read. */
  readonly truncated: boolean;
}

/** A file as it was edited. */
export interface EditedFile {
  readonly envId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Whether its sandbox is a new one, without files that only the last one had. */
  readonly restarted: boolean;
  readonly warnings: readonly string[];
  readonly path: string;
  readonly replacements: number;
  /** Of the file as it is now. */
  readonly sizeBytes: number;
  /** In an environment: files that tools of the project's owner run by themselves and that have changed. */
  readonly toolingFiles?:
    | readonly {
        /** From the project's folder, or in an agent's container. */
        readonly path: string;
        readonly change: "new" | "changed" | "removed";
      }[]
    | undefined;
}

/** A file as it was written. */
export interface WrittenFile {
  readonly envId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Whether its sandbox is a new one, without files that only the last one had. */
  readonly restarted: boolean;
  readonly warnings: readonly string[];
  readonly path: string;
  readonly sizeBytes: number;
  /** In an environment: files that tools of the project's owner run by themselves and that have changed. */
  readonly toolingFiles?:
    | readonly {
        /** From the project's folder, or in an agent's container. */
        readonly path: string;
        readonly change: "new" | "changed" | "removed";
      }[]
    | undefined;
}

/** What was copied. */
export interface CopyResult {
  readonly sandboxId: string;
  /** Files, folders and links that were copied. */
  readonly entries: number;
  readonly bytes: number;
  /** What was left out and why. */
  readonly warnings: readonly string[];
}

/** A live sandbox as a list shows it. */
export interface SandboxRow {
  readonly sandboxId: string;
  readonly engine: string;
  readonly kind: string;
  /** What its caller named it; null: nothing. */
  readonly name: string | null;
  /** What runs in it, or ran last: the language or the command, and its first words; null: nothing yet. */
  readonly work: string | null;
  /** Null where the engine has no images, and where only its owner knows. */
  readonly image: string | null;
  /** Empty while nobody has it, and where only another user's server knows. */
  readonly principal: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly running: boolean;
  /** Whether the server that made it still lives. */
  readonly owner: "living" | "expired" | "unknown";
}

/** What a sandbox used, second by second. */
export interface Metrics {
  readonly containerId: string;
  readonly engine: string;
  readonly kind: string;
  readonly running: boolean;
  readonly limits: {
    readonly cpus: number;
    readonly memoryMb: number;
  };
  /** Oldest first, one a second for ten minutes, one in ten seconds before; null: the engine cannot tell. */
  readonly samples: readonly {
    readonly containerId: string;
    /** When it was taken, RFC 3339. */
    readonly timestamp: string;
    /** Since the sample before; 100 is one CPU. */
    readonly cpuPercent: number | null;
    readonly memoryMb: number | null;
    /** Of it, what holds files. */
    readonly memoryCacheMb: number | null;
    /** In its folders in memory: what its diskMb is the limit of. */
    readonly scratchMb: number | null;
    /** Network and disk: since the start. */
    readonly networkRxBytes: number | null;
    readonly networkTxBytes: number | null;
    readonly diskReadBytes: number | null;
    readonly diskWriteBytes: number | null;
    readonly uptimeSeconds: number;
  }[];
}

/** One line of output, or one thing that Glovebox says. */
export interface LogEntry {
  /** The sandbox. */
  readonly containerId: string;
  /** Counts up in each sandbox, all streams together. */
  readonly offset: number;
  /** RFC 3339. */
  readonly timestamp: string;
  /** `system`: what Glovebox says of the sandbox and its runs. */
  readonly stream: "stdout" | "stderr" | "system";
  /** One line, without its end. */
  readonly message: string;
  /** The line was cut at 16 KiB and goes on in the stream's next entry. */
  readonly partial?: boolean | undefined;
  /** The alert that this entry tells of, while it is in memory. */
  readonly alert?:
    | {
        readonly containerId: string;
        readonly timestamp: string;
        readonly kind: "cpu" | "memory" | "network" | "preview_error" | "oom" | "setuid_files" | "tooling_files";
        readonly value: number;
        readonly threshold: number;
        readonly state: "start" | "end";
        readonly message: string;
        readonly suggestion: string;
      }
    | undefined;
  /** This entry stands for so many that are missing, from its offset on. */
  readonly dropped?: number | undefined;
}

/** A default image, and whether the engine has it. */
export interface ImageRow {
  readonly image: string;
  /** Kinds of work whose default it is. */
  readonly usedFor: readonly string[];
  readonly engine: string;
  readonly present: boolean;
}

/** Which folders sandboxes may get. */
export interface MountList {
  /** Path of the mount allowlist in force. */
  readonly allowlist: string | null;
  /** Where it is looked for, first place first. */
  readonly lookedFor: readonly string[];
  readonly nonMainReadOnly: boolean;
  readonly roots: readonly {
    readonly path: string;
    readonly source: "allowlist" | "project_roots" | "working_directory";
    readonly listedAs: string;
    readonly allowReadWrite: boolean;
    readonly description: string | null;
    readonly exists: boolean;
  }[];
  readonly blockedPatterns: readonly {
    readonly pattern: string;
    /** What it stands for; null for one of the allowlist's own. */
    readonly what: string | null;
  }[];
  readonly protectedPlaces: readonly {
    readonly path: string;
    readonly what: string;
  }[];
  readonly notices: readonly string[];
}

/** What the mount gate says about a folder. */
export interface MountAnswer {
  /** As it was given. */
  readonly path: string;
  /** After all links; null when nothing could be opened. */
  readonly realPath: string | null;
  readonly kind: "folder" | "file" | "other" | null;
  readonly verdicts: readonly {
    readonly use: "project" | "additional";
    readonly allowed: boolean;
    readonly readOnly: boolean;
    /** Name of the rule that decided; docs/mounts.md explains each. */
    readonly rule: string;
    /** Real path of the root that it lies below. */
    readonly root: string | null;
    /** Where that root is listed, such as allowedRoots[0]. */
    readonly listedAs: string | null;
    /** The blocked pattern that refused it. */
    readonly pattern: string | null;
    /** Path in the sandbox, for an additional mount. */
    readonly target: string | null;
    readonly explanation: string;
    /** Null where it is allowed as asked. */
    readonly whatWouldAllow: string | null;
  }[];
  readonly notices: readonly string[];
}

/** Packages that are kept. */
export interface PackageList {
  /** The one used last first. */
  readonly sets: readonly {
    readonly id: string;
    /** What was asked for together. */
    readonly requested: readonly string[];
    /** Everything that was installed for it, with versions. */
    readonly packages: readonly string[];
    readonly ecosystem: "npm" | "python";
    /** bun, npm or pip; project/NAME for dependencies of a project. */
    readonly installedBy: string;
    /** The interpreter, system, processor and C library that it fits. */
    readonly platform: string;
    /** Where they were installed. */
    readonly engine: string;
    /** Digest of the image that installed them; host: and a digest for this machine's programs. */
    readonly image: string;
    /** Who alone may use them, having chosen the image; null: all. */
    readonly principal: string | null;
    readonly sizeMb: number;
    readonly createdAt: string;
    readonly lastUsedAt: string;
    readonly inUse: boolean;
  }[];
  /** Of all sets together. */
  readonly sizeMb: number;
  /** Beyond it those not used for longest are removed. */
  readonly maxMb: number;
}

/** What was removed of them. */
export interface PrunedPackages {
  readonly removed: readonly {
    readonly id: string;
    /** What was asked for together. */
    readonly requested: readonly string[];
    /** Everything that was installed for it, with versions. */
    readonly packages: readonly string[];
    readonly ecosystem: "npm" | "python";
    /** bun, npm or pip; project/NAME for dependencies of a project. */
    readonly installedBy: string;
    /** The interpreter, system, processor and C library that it fits. */
    readonly platform: string;
    /** Where they were installed. */
    readonly engine: string;
    /** Digest of the image that installed them; host: and a digest for this machine's programs. */
    readonly image: string;
    /** Who alone may use them, having chosen the image; null: all. */
    readonly principal: string | null;
    readonly sizeMb: number;
    readonly createdAt: string;
    readonly lastUsedAt: string;
    readonly inUse: boolean;
  }[];
  /** Of what is left. */
  readonly sizeMb: number;
}

/** Engines, what each enforces, and known dangers. */
export interface DoctorReport {
  readonly version: string;
  readonly nodeVersion: string;
  /** System and architecture, as Node names them. */
  readonly platform: string;
  /** Why every run is refused, whatever the engine. */
  readonly refused?:
    | {
        readonly why: string;
        /** What to do about it. */
        readonly fix: string;
      }
    | undefined;
  readonly engines: readonly {
    readonly name: string;
    /** Whether it answers. */
    readonly available: boolean;
    /** Whether it answers and accepts a run that asks for nothing special. */
    readonly usable: boolean;
    readonly version?: string | undefined;
    readonly isolation?: "preload" | "namespaces" | "container" | "vm" | undefined;
    /** What it can enforce: yes, no, the substitute that stands in, or a kind. */
    readonly capabilities?: Readonly<Record<string, string>> | undefined;
    /** Its parts with their versions. */
    readonly components?:
      | readonly {
          readonly name: string;
          readonly version: string;
          readonly build?: string | undefined;
        }[]
      | undefined;
    /** How its API is reached, and who named the endpoint. */
    readonly reachedBy?: string | undefined;
    /** Why it cannot be used. */
    readonly reason?: string | undefined;
    /** What starts or installs it. */
    readonly howToStart?: string | undefined;
    readonly findings: readonly {
      /** danger: programs may escape; warning: look into it; note: good to know. */
      readonly severity: "danger" | "warning" | "note";
      readonly what: string;
      readonly why: string;
      /** What to do about it. */
      readonly fix: string;
      /** If only runs that ask for this OCI runtime are concerned. */
      readonly onlyWith?:
        | {
            readonly ociRuntime: string;
            /** Its product and version. */
            readonly part: string;
          }
        | undefined;
    }[];
  }[];
  readonly chosenEngine: {
    /** For a request that names no engine. */
    readonly default: {
      readonly asked: string;
      /** Null when none can be used. */
      readonly engine: string | null;
      readonly why: string;
    };
    /** What auto takes on the command line and in the library. */
    readonly ownMachine: {
      readonly asked: string;
      /** Null when none can be used. */
      readonly engine: string | null;
      readonly why: string;
    };
    /** What auto takes in container mode, where the embedded engine does not stand in. */
    readonly containerMode: {
      readonly asked: string;
      /** Null when none can be used. */
      readonly engine: string | null;
      readonly why: string;
    };
  };
  readonly configuration: {
    /** Path of the configuration file that was read. */
    readonly file: string | null;
    readonly settings: readonly {
      readonly key: string;
      /** Environment variable that sets it. */
      readonly variable: string | null;
      /** Effective value; secrets are masked. */
      readonly value: unknown;
      readonly source: "flag" | "environment" | "file" | "default";
    }[];
  };
}

/** Why a program did not end well, where Glovebox knows. */
export interface RunError {
  readonly errorType: string;
  readonly message: string;
  /** What to do about it. */
  readonly suggestion: string;
  readonly context: Readonly<Record<string, unknown>>;
}

/** A file that a program made. */
export interface Artifact {
  readonly path: string;
  readonly sizeBytes: number;
  readonly mediaType: string;
  readonly type: "image" | "table" | "text" | "binary";
  readonly encoding: "utf8" | "base64";
  readonly content: string;
  /** Why the content is missing or cut, when it is. */
  readonly omitted?: string | undefined;
}

/** Something about a sandbox that its owner should know while it goes on. */
export interface Alert {
  readonly containerId: string;
  readonly timestamp: string;
  readonly kind: "cpu" | "memory" | "network" | "preview_error" | "oom" | "setuid_files" | "tooling_files";
  readonly value: number;
  readonly threshold: number;
  readonly state: "start" | "end";
  readonly message: string;
  readonly suggestion: string;
}
