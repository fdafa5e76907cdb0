// Written by scripts/write-library-options.ts from the operations' schemas.

/** The configuration, by the names of its file. */
export interface Settings {
  /** Where `run_code` runs: `container` in a container, `preload` in the embedded sandbox; unset: in the embedded sandbox, and for `glovebox serve` in a container if an engine answers at its start. Default: `null`. */
  readonly execution_mode?: "container" | "preload" | null | undefined;
  /** The container engine; `auto` uses the first that answers. Default: `"auto"`. */
  readonly container_runtime?: "auto" | "docker" | "podman" | "apple" | "kubernetes" | undefined;
  /** Maximum number of sandboxes at once, including sessions and environments. Default: `10`. */
  readonly max_containers?: number | undefined;
  readonly queue?:
    | {
        /** Maximum number of requests waiting for a sandbox; 0 refuses immediately. Beyond it: `CAPACITY`. Default: `100`. */
        readonly limit?: number | undefined;
        /** Longest time a request waits for a sandbox. Beyond it: `CAPACITY`. Default: `"30s"`. */
        readonly timeout?: string | number | undefined;
      }
    | undefined;
  /** Maximum bytes of stdout and of stderr in a result; beyond it the result says `truncated`. Default: `10485760`. */
  readonly max_output_bytes?: number | undefined;
  /** Time limit of an agent's run in milliseconds, for groups that do not set one. Default: `1800000`. */
  readonly container_timeout_ms?: number | undefined;
  /** How long an environment and its background processes may be idle before it is ended. Default: `"1h"`. */
  readonly environment_idle_timeout?: string | number | undefined;
  /** Weakest isolation accepted. Requests may ask for more; only the command line and the library may ask for less. If unset, sessions over stdio use the best the host offers. Default: `"namespaces"`. */
  readonly min_isolation?: "preload" | "namespaces" | "container" | "vm" | undefined;
  readonly images?:
    | {
        /** Image for one-shot Python runs. Default: `"python:3.12-slim"`. */
        readonly python?: string | undefined;
        /** Image for one-shot JavaScript runs. Default: `"node:24-slim"`. */
        readonly javascript?: string | undefined;
        /** Image for one-shot TypeScript runs. Default: `"node:24-slim"`. */
        readonly typescript?: string | undefined;
        /** Image for sessions (`run_code`); Glovebox builds the default image. Default: `"bun-runner-base"`. */
        readonly session?: string | undefined;
        /** Base image of the session image. Default: `"alpine:3"`. */
        readonly session_base?: string | undefined;
        /** Further images that API keys may name, such as `python:3.13`, and registries, as `registry.example:5000/*`; a key can have its own list. Registry credentials are also used for these where only a project's files name them. Default: `[]`. */
        readonly allow?: readonly string[] | undefined;
      }
    | undefined;
  readonly e2b?:
    | {
        /** Images by the templates that E2B's clients name, such as `{"my-template": "registry.example:5000/data:1"}`; `base` and `code-interpreter-v1` replace those that Glovebox builds. Default: `{}`. */
        readonly templates?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  /** Whether to use only images that already exist: none is pulled or built, and a missing one is an error. Default: `false`. */
  readonly prebuilt_only?: boolean | undefined;
  /** Whether a request may build its project's Dockerfile, in a sandbox, to run its tests or preview in that image. Default: `false`. */
  readonly build_dockerfiles?: boolean | undefined;
  /** When to restart an engine that supports it, after its dead network made an agent's run fail: `never`, `idle` (only when no other sandbox is live) or `always`. Default: `"idle"`. */
  readonly engine_restart?: "never" | "idle" | "always" | undefined;
  readonly session?:
    | {
        /** A session ends, files included, after this long without a call. Default: `"15m"`. */
        readonly idle_timeout?: string | number | undefined;
      }
    | undefined;
  readonly network?:
    | {
        /** Whether requests may ask for network `open`: every public host. Default: `false`. */
        readonly allow_open?: boolean | undefined;
        /** Hosts that may be reached although their addresses are private, each at its port only, if the run's network allows them. Default: `[]`. */
        readonly private_hosts?: readonly string[] | undefined;
        /** DNS servers that resolve names for sandboxes; none: the host's own resolver. Default: `[]`. */
        readonly dns_servers?: readonly string[] | undefined;
        /** Addresses of this machine besides those of its own interfaces, such as that of a NAT in front of it; sandboxes may not connect to them. Default: `[]`. */
        readonly host_addresses?: readonly string[] | undefined;
        /** Whether names that cannot be resolved here are passed to the proxy in `HTTPS_PROXY`, which then decides where they lead: weaker, and not available with network `open`. Default: `false`. */
        readonly upstream_resolves?: boolean | undefined;
        /** Maximum bytes that one sandbox may send and receive over the network. Default: `1073741824`. */
        readonly max_bytes?: number | undefined;
      }
    | undefined;
  readonly warm_pool?:
    | {
        /** Whether sandboxes are kept ready for one-shot runs, with the interpreter started: `on` or `off`; `auto` is `on` for `glovebox serve` and `glovebox mcp`, and `off` in the library. Commands such as `glovebox run` never have any. Default: `"auto"`. */
        readonly mode?: "auto" | "on" | "off" | undefined;
        /** Minimum number of ready sandboxes of each kind that was ever requested; unset: 1 for a server, 0 over stdio and in the library. Default: `null`. */
        readonly min?: number | null | undefined;
        /** Maximum number of ready sandboxes of all kinds together; they count towards `max_containers`. Default: `8`. */
        readonly max?: number | undefined;
        /** After this long without a run of a kind, only `min` sandboxes of that kind are kept. Default: `"5m"`. */
        readonly idle_timeout?: string | number | undefined;
        /** A ready sandbox is replaced after this long. Default: `"30m"`. */
        readonly max_age?: string | number | undefined;
        /** No ready sandbox is created while this machine has less available memory than this, in MB (MiB). Default: `512`. */
        readonly min_free_mb?: number | undefined;
      }
    | undefined;
  readonly packages?:
    | {
        /** Where installed packages are kept. Default: `"~/.glovebox/packages"`. */
        readonly directory?: string | undefined;
        /** Maximum MB (MiB) of packages kept; beyond it the least recently used are removed. Default: `10240`. */
        readonly max_mb?: number | undefined;
        /** Whether packages for programs at isolation `preload` are installed on this machine itself, without a sandbox and without install scripts. Default: `false`. */
        readonly install_at_preload?: boolean | undefined;
        /** Packages that may be installed, such as `lodash`, `@scope/*` or `python:numpy`; none: all. Default: `[]`. */
        readonly allow?: readonly string[] | undefined;
        /** Packages that may not be installed, not even as dependencies; in the same form as `allow`. Default: `[]`. */
        readonly deny?: readonly string[] | undefined;
        /** Minimum age of a published version before it may be installed; unset: 24 hours, where the package manager and the registry know the age. */
        readonly min_age?: string | number | null | undefined;
      }
    | undefined;
  readonly limits?:
    | {
        readonly session?:
          | {
              /** CPUs' worth of time, fractions allowed: default of session. Default: `2`. */
              readonly cpus?: number | undefined;
              /** Memory in MB (MiB), without swap: default of session. Default: `512`. */
              readonly memory_mb?: number | undefined;
              /** Wall-clock time in seconds, fractions allowed: default of session. Default: `30`. */
              readonly timeout_seconds?: number | undefined;
              /** Processes and threads together: default of session. Default: `100`. */
              readonly pids?: number | undefined;
              /** Scratch space in MB (MiB): default of session. Default: `1024`. */
              readonly disk_mb?: number | undefined;
            }
          | undefined;
        readonly execute?:
          | {
              /** CPUs' worth of time, fractions allowed: default of execute. Default: `1`. */
              readonly cpus?: number | undefined;
              /** Memory in MB (MiB), without swap: default of execute. Default: `512`. */
              readonly memory_mb?: number | undefined;
              /** Wall-clock time in seconds, fractions allowed: default of execute. Default: `30`. */
              readonly timeout_seconds?: number | undefined;
              /** Processes and threads together: default of execute. Default: `100`. */
              readonly pids?: number | undefined;
              /** Scratch space in MB (MiB): default of execute. Default: `1024`. */
              readonly disk_mb?: number | undefined;
            }
          | undefined;
        readonly test?:
          | {
              /** CPUs' worth of time, fractions allowed: default of test. Default: `1`. */
              readonly cpus?: number | undefined;
              /** Memory in MB (MiB), without swap: default of test. Default: `2048`. */
              readonly memory_mb?: number | undefined;
              /** Wall-clock time in seconds, fractions allowed: default of test. Default: `300`. */
              readonly timeout_seconds?: number | undefined;
              /** Processes and threads together: default of test. Default: `512`. */
              readonly pids?: number | undefined;
              /** Scratch space in MB (MiB): default of test. Default: `1024`. */
              readonly disk_mb?: number | undefined;
            }
          | undefined;
        readonly preview?:
          | {
              /** CPUs' worth of time, fractions allowed: default of preview. Default: `1`. */
              readonly cpus?: number | undefined;
              /** Memory in MB (MiB), without swap: default of preview. Default: `1024`. */
              readonly memory_mb?: number | undefined;
              /** Wall-clock time in seconds, fractions allowed: default of preview. Default: `1800`. */
              readonly timeout_seconds?: number | undefined;
              /** Processes and threads together: default of preview. Default: `512`. */
              readonly pids?: number | undefined;
              /** Scratch space in MB (MiB): default of preview. Default: `1024`. */
              readonly disk_mb?: number | undefined;
            }
          | undefined;
        readonly environment?:
          | {
              /** CPUs' worth of time, fractions allowed: default of environment. Default: `2`. */
              readonly cpus?: number | undefined;
              /** Memory in MB (MiB), without swap: default of environment. Default: `2048`. */
              readonly memory_mb?: number | undefined;
              /** Wall-clock time in seconds, fractions allowed: default of environment. Default: `120`. */
              readonly timeout_seconds?: number | undefined;
              /** Processes and threads together: default of environment. Default: `512`. */
              readonly pids?: number | undefined;
              /** Scratch space in MB (MiB): default of environment. Default: `10240`. */
              readonly disk_mb?: number | undefined;
            }
          | undefined;
        readonly agent?:
          | {
              /** CPUs' worth of time, fractions allowed: default of agent. Default: `2`. */
              readonly cpus?: number | undefined;
              /** Memory in MB (MiB), without swap: default of agent. Default: `2048`. */
              readonly memory_mb?: number | undefined;
              /** Processes and threads together: default of agent. Default: `512`. */
              readonly pids?: number | undefined;
              /** Scratch space in MB (MiB): default of agent. Default: `10240`. */
              readonly disk_mb?: number | undefined;
            }
          | undefined;
      }
    | undefined;
  readonly ceilings?:
    | {
        /** CPUs' worth of time, fractions allowed: the most that a request may ask for. Default: `4`. */
        readonly cpus?: number | undefined;
        /** Memory in MB (MiB), without swap: the most that a request may ask for. Default: `8192`. */
        readonly memory_mb?: number | undefined;
        /** Wall-clock time in seconds, fractions allowed: the most that a request may ask for. Default: `3600`. */
        readonly timeout_seconds?: number | undefined;
        /** Processes and threads together: the most that a request may ask for. Default: `4096`. */
        readonly pids?: number | undefined;
        /** Scratch space in MB (MiB): the most that a request may ask for. Default: `10240`. */
        readonly disk_mb?: number | undefined;
      }
    | undefined;
  /** Names of the host's environment variables that every sandbox gets. Default: `[]`. */
  readonly environment_allowlist?: readonly string[] | undefined;
  /** Secrets that requests may ask for by name, and where their values are read from. Default: `{}`. */
  readonly secrets?:
    | readonly string[]
    | Readonly<
        Record<
          string,
          {
            readonly env?: string;
            readonly file?: string;
            readonly principals?: readonly string[];
            readonly kinds?: readonly string[];
          }
        >
      >
    | undefined;
  /** Path of the mount allowlist; unset: the user's own, if it exists. Default: `null`. */
  readonly mount_allowlist?: string | null | undefined;
  /** Folders in which requests may name files and projects; unset: none for the server, the working directory on the user's own machine. Default: `null`. */
  readonly project_roots?: readonly string[] | null | undefined;
  /** Files through which a project runs code on its owner's machine: `named` reports changes to them, `locked` makes those that exist read-only; a request can ask for more, not for less. Default: `"named"`. */
  readonly tooling_files?: "named" | "locked" | undefined;
  /** Further such files and folders of projects besides the built-in ones, such as `tools/hooks`. Default: `[]`. */
  readonly tooling_paths?: readonly string[] | undefined;
  /** Origins of web pages that may call the server, as browsers send them; others are refused. Default: `[]`. */
  readonly allowed_origins?: readonly string[] | undefined;
  /** Host names of the server beyond loopback, without ports; requests for other names are refused. Default: `[]`. */
  readonly allowed_hosts?: readonly string[] | undefined;
  readonly preview?:
    | {
        /** Domain under which each preview gets its own name beyond loopback, prefixed with `https://` if something in front of this server terminates TLS; unset: previews can be reached from the server's machine only. Default: `null`. */
        readonly domain?: string | null | undefined;
        /** Origin that receives previews' requests under `/api`; unset: they are refused. Default: `null`. */
        readonly backend?: string | null | undefined;
      }
    | undefined;
  readonly agents?:
    | {
        /** Folder that contains the groups' folders (`groups/NAME`, `data/pi/NAME`, `data/ipc/NAME`); unset: none for the server, the working directory on the user's own machine. Default: `null`. */
        readonly directory?: string | null | undefined;
        /** Folder mounted at `/workspace/project` for the main group; unset: `agents.directory`. Default: `null`. */
        readonly project?: string | null | undefined;
        /** The only group that may run as the main group. Default: `"main"`. */
        readonly main_group?: string | undefined;
        /** The main group's workspace; created if missing. Default: `"~/nano"`. */
        readonly main_workspace?: string | undefined;
        /** Image for agents whose group does not set one; Glovebox builds the default image. Default: `"glovebox-agent"`. */
        readonly image?: string | undefined;
        /** Base image of the agent image: a Linux with Node. Default: `"node:24-slim"`. */
        readonly image_base?: string | undefined;
        /** The agent for groups that do not set one: a name from the table in docs/agents.md. Default: `"pi"`. */
        readonly agent?: string | undefined;
        /** Hosts that agents may reach besides their model's, for groups without their own list: domains, or just `none`, `registries` or `open`. Default: `[]`. */
        readonly network?: readonly string[] | undefined;
        /** Names of this machine's variables that agents get besides those in the table in docs/agents.md. Default: `[]`. */
        readonly variables?: readonly string[] | undefined;
        readonly memory?:
          | {
              /** Minimum relevance to the prompt, from 0 to 1, of the memory passages that agents are given. Default: `0.3`. */
              readonly min_relevance?: number | undefined;
              /** Maximum total length of these passages in characters; 0 gives none. Default: `8000`. */
              readonly max_characters?: number | undefined;
            }
          | undefined;
        /** Number of run logs kept for each group; older ones are removed when a run starts. Default: `100`. */
        readonly max_logs?: number | undefined;
        /** Folder mounted at `/workspace/farm-state` for every agent; unset: none. Default: `null`. */
        readonly farm_state?: string | null | undefined;
        /** Folder mounted at `/workspace/dashboard` for every agent; unset: none. Default: `null`. */
        readonly dashboard?: string | null | undefined;
        /** Settings of individual groups by name; the variable takes JSON. Default: `{}`. */
        readonly groups?:
          | Readonly<
              Record<
                string,
                {
                  readonly containerConfig?:
                    | {
                        readonly timeout?: number | undefined;
                        readonly image?: string | undefined;
                        readonly additionalMounts?:
                          | readonly {
                              readonly hostPath: string;
                              readonly containerPath?: string | undefined;
                              readonly readonly?: boolean | undefined;
                            }[]
                          | undefined;
                      }
                    | undefined;
                  readonly network?: readonly string[] | undefined;
                  readonly agent?:
                    | {
                        readonly name: string;
                        readonly command?: readonly string[] | undefined;
                      }
                    | undefined;
                  readonly principals?: readonly string[] | undefined;
                }
              >
            >
          | undefined;
      }
    | undefined;
  /** How long running work may continue after the server is asked to stop; then it is ended. Default: `"30s"`. */
  readonly drain_timeout?: string | number | undefined;
  /** Path of a file with API keys, which Glovebox only reads; unset: the user's own, which `glovebox keys` writes. Default: `null`. */
  readonly keys_file?: string | null | undefined;
  readonly store?:
    | {
        /** Where runs, logs, metrics and alerts are kept: `sqlite`, `postgres`, or `off`; `auto` is `sqlite` for `glovebox serve` and `off` elsewhere. Default: `"auto"`. */
        readonly kind?: "auto" | "off" | "sqlite" | "postgres" | undefined;
        /** File of the SQLite store; unset: `store.db` in the state folder. Default: `null`. */
        readonly file?: string | null | undefined;
        /** URL of the PostgreSQL store, never shown; if it has no password, `PGPASSWORD` or `~/.pgpass` is used. Default: `null`. */
        readonly url?: string | null | undefined;
        /** Days after which stored data is removed. Default: `30`. */
        readonly max_age_days?: number | undefined;
        /** Maximum MB (MiB) of stored log entries; beyond it whoever has most loses the oldest. Default: `1024`. */
        readonly max_mb?: number | undefined;
      }
    | undefined;
  readonly logs?:
    | {
        /** URL of a Redis server that log entries are published to, never shown; unset: none. Default: `null`. */
        readonly redis_url?: string | null | undefined;
      }
    | undefined;
  /** Minimum severity of log entries. Default: `"warn"`. */
  readonly log_level?: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent" | undefined;
}
