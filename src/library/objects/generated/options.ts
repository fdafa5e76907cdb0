// Written by scripts/write-library-options.ts from the operations' schemas.

/** A program for a fresh sandbox. */
export interface ExecuteOptions {
  /** Language of the code. */
  readonly language: "python" | "javascript" | "typescript";
  /** The program, at most 1 MiB. */
  readonly code: string;
  /** Name of the program's file, as tracebacks show it; default main.py, main.js or main.ts. */
  readonly filename?: string | undefined;
  /** What runs JavaScript and TypeScript: node (the default) or, without an `image`, bun in the image of sessions. */
  readonly runtime?: "node" | "bun" | undefined;
  /** Read-only files beside the code, importable from it. */
  readonly contextFiles?: readonly (string | ContextFile)[] | undefined;
  /** Environment variables of the program. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Secrets of the deployment that the program gets as environment variables, by name and never by value: ["OPENAI_API_KEY"], or the secret's name by variable, {"API_KEY": "openai"}. Their values are replaced by [redacted:NAME] in what the program writes. */
  readonly secrets?: readonly string[] | Readonly<Record<string, string>> | undefined;
  /** Time for the program; short for limits.timeoutSeconds. */
  readonly timeoutSeconds?: number | undefined;
  /** The program's standard input; default: empty. */
  readonly stdin?: string | undefined;
  /** Arguments of the program. */
  readonly args?: readonly string[] | undefined;
  /** Packages to have at hand, such as lodash@4.17.21 or requests==2.32.0; those that are not in the cache are installed first, in a sandbox of their own. Without a version: the newest at the time of its first installation. "auto": those that the code imports; the default over MCP and on the command line, elsewhere none. */
  readonly packages?: readonly string[] | "auto" | undefined;
  /** Globs of result files to return, such as *.png. */
  readonly artifacts?: readonly string[] | undefined;
  /** Your own marks, at most 16, by which lists can be filtered: {"job": "1234"}. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Your own word for it, by which you find it again: letters, digits, hyphens, underscores and dots, at most 64, not in the form of an id. It need not be unique. */
  readonly name?: string | undefined;
  /** Limits; each defaults to the deployment's for this kind of work. */
  readonly limits?: Limits | undefined;
  /** What the code may reach: "none" (the default), "registries" (the package registries that the host is configured for), "open" (every public name, if the deployment allows it), or a list of domains such as ["example.com", "*.example.org", "example.net:8443"]. */
  readonly network?: string | readonly string[] | undefined;
  /** Container image; refused by engines without images. */
  readonly image?: string | undefined;
  /** Engine name, or auto; default: the deployment's. */
  readonly engine?: string | undefined;
  /** OCI runtime, by the engine's name for it; default: the engine's own. */
  readonly ociRuntime?: string | undefined;
  /** Refuse engines with weaker isolation than this. */
  readonly minIsolation?: "preload" | "namespaces" | "container" | "vm" | undefined;
}

/** A project's tests in a fresh sandbox. */
export interface TestsOptions {
  /** The project's folder on the host. It is copied into the sandbox, without node_modules, caches, .git and what .gitignore names, and never written. */
  readonly projectPath: string;
  /** Command that runs the tests, as you would type it: npm test, python -m pytest -q; or program and arguments as a list; default: what the project's own files say, which `testCommand` of the answer names. */
  readonly testCommand?: string | readonly string[] | undefined;
  /** Command that installs what the tests need, with the package registries as its network; default: the install of the project's lockfile, kept for later runs. "": nothing is installed. */
  readonly setupCommand?: string | readonly string[] | undefined;
  /** Environment variables of the installation and the tests. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Time for the tests; default 300. The installation has as much. */
  readonly timeoutSeconds?: number | undefined;
  /** Files that are laid over the copy right before the tests run, such as tests that the code under test must not change; configuration of test runners beside them is removed. */
  readonly trustedFiles?: readonly (string | ContextFile)[] | undefined;
  /** Copy node_modules and whatever else is left out otherwise; default false. */
  readonly includeIgnored?: boolean | undefined;
  /** Names of the tests to run, as `failures` of an earlier run has them; default: all that the command runs. */
  readonly onlyTests?: readonly string[] | undefined;
  /** Where a tool that Glovebox does not know leaves its report in JUnit XML or CTRF: a file, or a folder of such files, relative to the project. Anything in the sandbox can write it. What was there before is removed first. */
  readonly reportFile?: string | undefined;
  /** Formats in which the whole report is returned. */
  readonly reports?: readonly ("ctrf" | "junit")[] | undefined;
  /** Build the project's own Dockerfile, in a sandbox, and test in its image; only where the deployment allows it, and without `image`. Default false. */
  readonly dockerfile?: boolean | undefined;
  /** Your own word for it, by which you find it again: letters, digits, hyphens, underscores and dots, at most 64, not in the form of an id. It need not be unique. */
  readonly name?: string | undefined;
  /** Limits; each defaults to the deployment's for this kind of work. */
  readonly limits?: Limits | undefined;
  /** What the code may reach: "none" (the default), "registries" (the package registries that the host is configured for), "open" (every public name, if the deployment allows it), or a list of domains such as ["example.com", "*.example.org", "example.net:8443"]. */
  readonly network?: string | readonly string[] | undefined;
  /** Container image; default: that of the project's devcontainer, else the deployment's for the language of the command, the lockfile or the files. */
  readonly image?: string | undefined;
  /** Engine name, or auto; default: the deployment's. */
  readonly engine?: string | undefined;
  /** OCI runtime, by the engine's name for it; default: the engine's own. */
  readonly ociRuntime?: string | undefined;
  /** Refuse engines with weaker isolation than this. */
  readonly minIsolation?: "preload" | "namespaces" | "container" | "vm" | undefined;
}

/** A project's page, served from a sandbox. */
export interface PreviewOptions {
  /** The project's folder on the host. It is copied into the sandbox, without node_modules, caches, .git and what .gitignore names, and never written. */
  readonly projectPath: string;
  /** Command that serves the page and stays in the foreground; default: the project's own, as npm run dev. */
  readonly command?: string | readonly string[] | undefined;
  /** TCP port that it listens on, also its PORT; default: as the command or its tool says, else 3000. Another is followed. */
  readonly port?: number | undefined;
  /** Command that installs what it needs, with the package registries as its network; default: the install of the project's lockfile. "": nothing is installed. */
  readonly setupCommand?: string | readonly string[] | undefined;
  /** Environment variables of the installation and the command. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Secrets of the deployment that the program gets as environment variables, by name and never by value: ["OPENAI_API_KEY"], or the secret's name by variable, {"API_KEY": "openai"}. Their values are replaced by [redacted:NAME] in what the program writes. */
  readonly secrets?: readonly string[] | Readonly<Record<string, string>> | undefined;
  /** Ends by itself after this time; default 1800. */
  readonly timeoutSeconds?: number | undefined;
  /** How long to wait for the port to answer before the answer says starting; default 30. */
  readonly waitSeconds?: number | undefined;
  /** Copy node_modules and whatever else is left out otherwise; default false. */
  readonly includeIgnored?: boolean | undefined;
  /** Your own marks, at most 16, by which lists can be filtered: {"job": "1234"}. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Build the project's own Dockerfile, in a sandbox, and serve from its image; only where the deployment allows it, and without `image`. Default false. */
  readonly dockerfile?: boolean | undefined;
  /** Your own word for it, by which you find it again: letters, digits, hyphens, underscores and dots, at most 64, not in the form of an id. It need not be unique. */
  readonly name?: string | undefined;
  /** Limits; each defaults to the deployment's for this kind of work. */
  readonly limits?: Limits | undefined;
  /** What the code may reach: "none" (the default), "registries" (the package registries that the host is configured for), "open" (every public name, if the deployment allows it), or a list of domains such as ["example.com", "*.example.org", "example.net:8443"]. */
  readonly network?: string | readonly string[] | undefined;
  /** Container image; default: the deployment's for the language of the command, the lockfile or the files. */
  readonly image?: string | undefined;
  /** Engine name, or auto; default: the deployment's. */
  readonly engine?: string | undefined;
  /** OCI runtime, by the engine's name for it; default: the engine's own. */
  readonly ociRuntime?: string | undefined;
  /** Refuse engines with weaker isolation than this. */
  readonly minIsolation?: "preload" | "namespaces" | "container" | "vm" | undefined;
}

/** How a preview is asked for its state. */
export interface PreviewStatusOptions {
  /** How long to wait while its status is starting; default 0. */
  readonly waitSeconds?: number | undefined;
}

/** A coding agent's run for a group. */
export interface AgentOptions {
  /** Name of the group that the agent works for. */
  readonly group?: string | undefined;
  /** Folder that the agent works in, instead of a group's. */
  readonly projectPath?: string | undefined;
  /** With projectPath: pi, claude, codex, gemini or opencode; default: the deployment's. */
  readonly agent?: string | undefined;
  /** What the agent should do. */
  readonly prompt: string;
  /** Run as the main group, which has the whole project. */
  readonly main?: boolean | undefined;
  /** `newSessionId` of an earlier run, to continue it. */
  readonly agentSessionId?: string | undefined;
  /** Default: the group's. */
  readonly timeoutSeconds?: number | undefined;
  /** Your own word for it, by which you find it again: letters, digits, hyphens, underscores and dots, at most 64, not in the form of an id. It need not be unique. */
  readonly name?: string | undefined;
  /** Limits; each defaults to the deployment's for this kind of work. */
  readonly limits?: Limits | undefined;
  /** Domains beside its model's, "registries" or "open"; default: the group's. */
  readonly network?: string | readonly string[] | undefined;
  /** Container image; refused by engines without images. */
  readonly image?: string | undefined;
  /** Engine name, or auto; default: the deployment's. */
  readonly engine?: string | undefined;
  /** OCI runtime, by the engine's name for it; default: the engine's own. */
  readonly ociRuntime?: string | undefined;
  /** Refuse engines with weaker isolation than this. */
  readonly minIsolation?: "preload" | "namespaces" | "container" | "vm" | undefined;
}

/** What a session is opened with, and keeps. */
export interface SessionOptions {
  /** Your own word for it, by which you find it again: letters, digits, hyphens, underscores and dots, at most 64, not in the form of an id. It need not be unique. */
  readonly name?: string | undefined;
  /** Limits; each defaults to the deployment's for this kind of work. */
  readonly limits?: Limits | undefined;
  /** Container image; refused by engines without images. */
  readonly image?: string | undefined;
  /** Engine name, or auto; default: the deployment's. */
  readonly engine?: string | undefined;
  /** OCI runtime, by the engine's name for it; default: the engine's own. */
  readonly ociRuntime?: string | undefined;
  /** Refuse engines with weaker isolation than this. */
  readonly minIsolation?: "preload" | "namespaces" | "container" | "vm" | undefined;
  /** Of a new session: an interpreter of each language lives with it, so that variables last from call to call, and the last expression's value, tables and plots come back in displays. Its programs have no stdin, secrets or network. Default false. */
  readonly keepVariables?: boolean | undefined;
  /** Folder that its programs start in, that is their HOME, and whose files are kept: /workspace, or one such as /home/user; default: /work, with HOME in /tmp. */
  readonly home?: string | undefined;
  /** Your own marks, at most 16, by which lists can be filtered: {"job": "1234"}. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** A program in a session. */
export interface SessionRunOptions {
  /** The program, at most 1 MiB. */
  readonly code: string;
  /** Language of the code; default typescript. */
  readonly language?: "python" | "javascript" | "typescript" | undefined;
  /** What runs JavaScript and TypeScript: bun (the default), or node where the session's image has it. */
  readonly runtime?: "node" | "bun" | undefined;
  /** Packages that the code imports, such as ["lodash@4.17.21"]; default "auto": found by its imports. */
  readonly packages?: readonly string[] | "auto" | undefined;
  /** The program's standard input; default: empty. */
  readonly stdin?: string | undefined;
  /** Arguments of the program. */
  readonly args?: readonly string[] | undefined;
  /** Environment variables of this call's program; later calls do not have them. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Of a new session: an interpreter of each language lives with it, so that variables last from call to call, and the last expression's value, tables and plots come back in displays. Its programs have no stdin, secrets or network. Default false. */
  readonly keepVariables?: boolean | undefined;
  /** With keepVariables: a name for variables apart from others of the session, at most 8; a new name makes them. Language and runtime default to its own. Default: the one of the runtime: python, bun or node. */
  readonly context?: string | undefined;
  /** Secrets of the deployment that the program gets as environment variables, by name and never by value: ["OPENAI_API_KEY"], or the secret's name by variable, {"API_KEY": "openai"}. Their values are replaced by [redacted:NAME] in what the program writes. */
  readonly secrets?: readonly string[] | Readonly<Record<string, string>> | undefined;
  /** Time for the program; short for limits.timeoutSeconds. */
  readonly timeoutSeconds?: number | undefined;
  /** Your own word for it, by which you find it again: letters, digits, hyphens, underscores and dots, at most 64, not in the form of an id. It need not be unique. */
  readonly name?: string | undefined;
  /** Limits; each defaults to the deployment's for this kind of work. */
  readonly limits?: Limits | undefined;
  /** What the code may reach: "none" (the default), "registries" (the package registries that the host is configured for), "open" (every public name, if the deployment allows it), or a list of domains such as ["example.com", "*.example.org", "example.net:8443"]. */
  readonly network?: string | readonly string[] | undefined;
  /** Container image; refused by engines without images. */
  readonly image?: string | undefined;
  /** Engine name, or auto; default: the deployment's. */
  readonly engine?: string | undefined;
  /** OCI runtime, by the engine's name for it; default: the engine's own. */
  readonly ociRuntime?: string | undefined;
  /** Refuse engines with weaker isolation than this. */
  readonly minIsolation?: "preload" | "namespaces" | "container" | "vm" | undefined;
}

/** What a context is made of. */
export interface ContextOptions {
  /** The context's name: letters, digits, hyphens, underscores and dots, at most 64. */
  readonly context: string;
  /** Default typescript. */
  readonly language?: "python" | "javascript" | "typescript" | undefined;
  /** What runs JavaScript and TypeScript: bun (the default), or node where the session's image has it. */
  readonly runtime?: "node" | "bun" | undefined;
  /** Folder in which its interpreter begins, absolute or relative to /work, which is the default. Calls fail as long as it is not there. */
  readonly cwd?: string | undefined;
}

/** What an environment is made of. */
export interface EnvironmentOptions {
  /** Folder of the host that commands see at /workdir, absolute or relative to the working directory; default: an empty folder of the environment's own. */
  readonly projectRoot?: string | undefined;
  /** Name of your choice: letters, digits, hyphens, underscores and dots, at most 64; default: a new one. */
  readonly envId?: string | undefined;
  /** Your own marks, at most 16, by which lists can be filtered: {"job": "1234"}. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Your own word for it, by which you find it again: letters, digits, hyphens, underscores and dots, at most 64, not in the form of an id. It need not be unique. */
  readonly name?: string | undefined;
  /** Limits; each defaults to the deployment's for this kind of work. */
  readonly limits?: Limits | undefined;
  /** What the code may reach: "none" (the default), "registries" (the package registries that the host is configured for), "open" (every public name, if the deployment allows it), or a list of domains such as ["example.com", "*.example.org", "example.net:8443"]. */
  readonly network?: string | readonly string[] | undefined;
  /** Container image whose tools the commands use; default: by the project. */
  readonly image?: string | undefined;
  /** Engine name, or auto; default: the deployment's. */
  readonly engine?: string | undefined;
  /** OCI runtime, by the engine's name for it; default: the engine's own. */
  readonly ociRuntime?: string | undefined;
  /** Refuse engines with weaker isolation than this. */
  readonly minIsolation?: "preload" | "namespaces" | "container" | "vm" | undefined;
  /** Environment variables of every command. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Secrets of the deployment that the program gets as environment variables, by name and never by value: ["OPENAI_API_KEY"], or the secret's name by variable, {"API_KEY": "openai"}. Their values are replaced by [redacted:NAME] in what the program writes. */
  readonly secrets?: readonly string[] | Readonly<Record<string, string>> | undefined;
  /** The same as environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Commands that run once as root before the environment is handed out, with the package registries as their network, such as ["pip install ruff"]; each a shell line, or a program and its arguments as a list. They can read the project and not change it. */
  readonly setupCommands?: readonly (string | readonly string[])[] | undefined;
  /** Commands that run once after those, as the owner of the project, which they can change, with the package registries as their network, such as ["npm ci"]. */
  readonly installCommands?: readonly (string | readonly string[])[] | undefined;
  /** Commands cannot change the project; default false. */
  readonly readOnly?: boolean | undefined;
  /** Files of the project that its owner's tools (git, editors, shells, agents) run by themselves, such as .git/config and .vscode: named: the answer of run_command names those that changed; locked: those that exist cannot be changed either, so that some git commands fail. Default: the deployment's, else named. */
  readonly toolingFiles?: "named" | "locked" | undefined;
  /** Commands can write to the project and to /tmp only, not to the image's folders; default false. */
  readonly readOnlyRoot?: boolean | undefined;
}

/** A command in an environment. */
export interface CommandOptions {
  /** Shell line, or program and arguments as a list. */
  readonly command: string | readonly string[];
  /** Environment variables of this command; they win over the environment's. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** The same as environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Secrets of the deployment that the program gets as environment variables, by name and never by value: ["OPENAI_API_KEY"], or the secret's name by variable, {"API_KEY": "openai"}. Their values are replaced by [redacted:NAME] in what the program writes. */
  readonly secrets?: readonly string[] | Readonly<Record<string, string>> | undefined;
  /** Standard input of the command, as UTF-8; default: empty. */
  readonly stdin?: string | undefined;
  /** Bytes of each of stdoutTail and stderrTail; default 65536, at most max_output_bytes of the configuration (10485760). */
  readonly tailBytes?: number | undefined;
  /** Folder to start in, absolute or relative to /workdir, which is the default. */
  readonly cwd?: string | undefined;
  /** Time for the command; default: the environment's, else 120. */
  readonly timeoutSeconds?: number | undefined;
}

/** A background process. */
export interface ProcessOptions {
  /** Shell line, or program and arguments as a list. */
  readonly command: string | readonly string[];
  /** Environment variables of this process. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** The same as environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Folder to start in, absolute or relative to /workdir (in a session: /work), which is the default. */
  readonly cwd?: string | undefined;
  /** TCP ports that it listens on, at most 8; the answer says at which URL of the server's machine each is reached. */
  readonly ports?: readonly number[] | undefined;
  /** In a session: what the process may reach, as in run_code; default "none". An environment has its own for all. */
  readonly network?: string | readonly string[] | undefined;
}

/** Which part of its output is read. */
export interface ProcessOutputOptions {
  /** With processId: where to read stdout from; default 0. */
  readonly stdoutOffset?: number | undefined;
  /** With processId: where to read stderr from; default 0. */
  readonly stderrOffset?: number | undefined;
  /** With processId: most bytes of each stream; default 65536. */
  readonly maxBytes?: number | undefined;
}

/** How a process is ended. */
export interface StopProcessOptions {
  /** Sends only this signal, to the process itself, which may then continue (SIGHUP, SIGUSR1). SIGKILL kills it at once with everything it started. Default: stops it gracefully. */
  readonly signal?: "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGQUIT" | "SIGUSR1" | "SIGUSR2" | "SIGKILL" | undefined;
}

/** What is replaced in a file, and by what. */
export interface EditFileOptions {
  /** The text to replace, exactly as it is in the file; it must stand there once. */
  readonly oldText: string;
  /** What stands there instead. */
  readonly newText: string;
  /** Replace it wherever it stands; default false. */
  readonly replaceAll?: boolean | undefined;
}

/** Which part of a file is read, and how. */
export interface ReadFileOptions {
  /** How the content is written; default utf8, and base64 for what is no text. */
  readonly encoding?: "utf8" | "base64" | undefined;
  /** First byte; default 0. */
  readonly offset?: number | undefined;
  /** Most bytes; default and at most 10 MiB. */
  readonly limit?: number | undefined;
}

/** Which part of a file is read. */
export interface ReadStreamOptions {
  /** The sandbox's id, its name, or the first characters of its id. */
  readonly sandboxId?: string | undefined;
  /** First byte; default 0. */
  readonly offset?: number | undefined;
  /** Most bytes; default: to the end. */
  readonly limit?: number | undefined;
  /** The last bytes, this many; instead of offset and limit. */
  readonly last?: number | undefined;
}

/** A program in a live sandbox. */
export interface ExecOptions {
  /** Shell line, or program and arguments as a list. */
  readonly command: string | readonly string[];
  /** Standard input of the program, as UTF-8; default: empty. */
  readonly stdin?: string | undefined;
  /** Variables of the program; they win over those of the sandbox's own programs. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Absolute folder inside to start in; default: where the sandbox's own programs start. */
  readonly cwd?: string | undefined;
  /** User of the program where the engine gives sandboxes users of their own (one that runs without root, or with userns-remap): a name of the sandbox's /etc/passwd, or numbers as 1000 or 1000:1000, at most 59999; elsewhere refused. Default: the user of the sandbox's own programs. */
  readonly user?: string | undefined;
}

/** A program in a terminal. */
export interface TerminalOptions {
  /** Shell line, or program and arguments as a list; default: an interactive shell, bash where there is one. */
  readonly command?: string | readonly string[] | undefined;
  /** Variables of the program; they win over those of the sandbox's own programs. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Absolute folder inside to start in; default: where the sandbox's own programs start. */
  readonly cwd?: string | undefined;
  /** User of the program where the engine gives sandboxes users of their own (one that runs without root, or with userns-remap): a name of the sandbox's /etc/passwd, or numbers as 1000 or 1000:1000, at most 59999; elsewhere refused. Default: the user of the sandbox's own programs. */
  readonly user?: string | undefined;
  /** Size of the terminal at the start, in characters. */
  readonly columns: number;
  readonly rows: number;
  /** Kind of the terminal (TERM); default: xterm. */
  readonly term?: string | undefined;
}

/** How much is copied at most. */
export interface CopyLimits {
  /** Bytes of all files together that are copied at most; default 1 GiB. */
  readonly maxBytes?: number | undefined;
  /** Files, folders and links at most; default 100,000. */
  readonly maxEntries?: number | undefined;
}

/** Which sandboxes are listed. */
export interface ListSandboxesOptions {
  /** Only this engine's; default: every engine that answers. */
  readonly engine?: string | undefined;
  /** Only what living processes of this user have recorded, without asking the engines; default false. */
  readonly recorded?: boolean | undefined;
}

/** What is removed. */
export interface PruneSandboxesOptions {
  /** Also those of servers that live; default: only what dead ones left. */
  readonly all?: boolean | undefined;
}

/** Which alerts are listed. */
export interface ListAlertsOptions {
  /** Only of this sandbox. */
  readonly sandboxId?: string | undefined;
  /** Only of this kind. */
  readonly kind?: "cpu" | "memory" | "network" | "preview_error" | "oom" | "setuid_files" | "tooling_files" | undefined;
  /** Only starts, or only ends. */
  readonly state?: "start" | "end" | undefined;
  /** RFC 3339: only from then on. */
  readonly since?: string | undefined;
  /** How many, the newest; default 100, at most 500. */
  readonly limit?: number | undefined;
}

/** Which samples are given. */
export interface MetricsOptions {
  /** How many, the newest; default 60, at most 1000. */
  readonly samples?: number | undefined;
  /** RFC 3339: only those taken from then on. */
  readonly since?: string | undefined;
}

/** Which part of a log is read. */
export interface ReadLogsOptions {
  /** Only this one; default: all. */
  readonly stream?: "stdout" | "stderr" | "system" | undefined;
  /** The first entry that is wanted; default 0. */
  readonly offset?: number | undefined;
  /** Instead of an offset: the newest so many. */
  readonly tail?: number | undefined;
  /** Most entries; default 1000. */
  readonly limit?: number | undefined;
  /** How long to wait for an entry while there is none at the offset and the log goes on; default 0. */
  readonly waitSeconds?: number | undefined;
}

/** Which engine's images are listed. */
export interface ListImagesOptions {
  /** Engine name, or auto; default: the deployment's. */
  readonly engine?: string | undefined;
}

/** Which images are pulled. */
export interface PullImagesOptions {
  /** Engine that runs images, by its name, or auto; default: the deployment's. */
  readonly engine?: string | undefined;
  /** References to pull; default: every default image. */
  readonly images?: readonly string[] | undefined;
  /** Whether also those of the templates of E2B's clients, pulled or built. */
  readonly e2b?: boolean | undefined;
}

/** Which images are built. */
export interface BuildImagesOptions {
  /** Engine that runs images, by its name, or auto; default: the deployment's. */
  readonly engine?: string | undefined;
  /** Images of Glovebox's own: bun-runner-base, glovebox-agent, or glovebox-agent:NAME for another agent. */
  readonly images?: readonly string[] | undefined;
}

/** A folder that a sandbox would get. */
export interface CheckMountOptions {
  /** Path on this machine, absolute or relative to the working directory. */
  readonly path: string;
  /** As a project (or a file of one) or as an additional mount; default: both. */
  readonly use?: "project" | "additional" | undefined;
  /** What is asked for; default read-write, which is brought down to what is allowed. */
  readonly access?: "read-only" | "read-write" | undefined;
  /** Whether it is for the main group; default: no. */
  readonly isMain?: boolean | undefined;
  /** Relative path below /workspace/extra; default: the name of what is mounted. */
  readonly target?: string | undefined;
}

/** Which kept packages are removed. */
export interface PrunePackagesOptions {
  /** What may stay, in MiB; 0 removes all that nobody uses. Default: the deployment's packages.maxMb. */
  readonly maxMb?: number | undefined;
}

/** Limits of one call; each defaults to the deployment's for this kind of work. */
export interface Limits {
  /** CPUs' worth of time, fractions allowed. */
  readonly cpus?: number | undefined;
  /** Memory in MiB, without swap. */
  readonly memoryMb?: number | undefined;
  /** Time for the program itself, in seconds. */
  readonly timeoutSeconds?: number | undefined;
  /** Processes and threads together. */
  readonly pids?: number | undefined;
  /** Writable space in MiB. */
  readonly diskMb?: number | undefined;
}

/** A file that a program finds beside its code. */
export interface ContextFile {
  /** Relative path beside the code. */
  readonly path: string;
  readonly content: string;
  /** How `content` is written; default utf8. */
  readonly encoding?: "utf8" | "base64" | undefined;
}
