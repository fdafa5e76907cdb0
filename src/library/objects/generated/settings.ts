// Written by scripts/write-library-options.ts from the operations' schemas.

/** The configuration, by the names of its file. */
export interface Settings {
  /** Where `run_code` runs: `container` in a container, `preload` in the embedded sandbox. Default: `"preload"`. */
  readonly execution_mode?: "container" | "preload" | undefined;
  /** The container engine; `auto` takes the first that answers. Default: `"auto"`. */
  readonly container_runtime?: "auto" | "docker" | "podman" | "apple" | undefined;
  /** Most sandboxes at once, sessions and environments included. Default: `10`. */
  readonly max_containers?: number | undefined;
  readonly queue?:
    | {
        /** Most requests that wait for a sandbox; 0 refuses at once. Beyond it: `CAPACITY`. Default: `100`. */
        readonly limit?: number | undefined;
        /** Longest wait for a sandbox. Beyond it: `CAPACITY`. Default: `"30s"`. */
        readonly timeout?: string | number | undefined;
      }
    | undefined;
  /** Most bytes of stdout and of stderr that a result carries; beyond it the result says `truncated`. Default: `10485760`. */
  readonly max_output_bytes?: number | undefined;
  /** Wall-clock time of an agent's run in milliseconds, unless its group has its own. Default: `1800000`. */
  readonly container_timeout_ms?: number | undefined;
  /** How long an environment may do nothing, its background processes included, before it is ended. Default: `"1h"`. */
  readonly environment_idle_timeout?: string | number | undefined;
  /** Weakest isolation that is accepted. Requests may ask for more; for less only on the command line and in the library. Unset, sessions over stdio take what the host reaches. Default: `"namespaces"`. */
  readonly min_isolation?: "preload" | "namespaces" | "container" | "vm" | undefined;
  readonly images?:
    | {
        /** Image of one-shot Python runs. Default: `"python:3.12-slim"`. */
        readonly python?: string | undefined;
        /** Image of one-shot JavaScript runs. Default: `"node:24-slim"`. */
        readonly javascript?: string | undefined;
        /** Image of one-shot TypeScript runs. Default: `"node:24-slim"`. */
        readonly typescript?: string | undefined;
        /** Image of sessions (`run_code`); the default one is built by Glovebox. Default: `"bun-runner-base"`. */
        readonly session?: string | undefined;
        /** The Linux that the image of sessions is built on. Default: `"alpine:3"`. */
        readonly session_base?: string | undefined;
      }
    | undefined;
  /** Whether images are only ever used as they are: none is pulled or built, and a missing one is an error. Default: `false`. */
  readonly prebuilt_only?: boolean | undefined;
  /** Whether a request may have the Dockerfile of its project built, in a sandbox, for its tests or its preview to run in that image. Default: `false`. */
  readonly build_dockerfiles?: boolean | undefined;
  /** When an engine that can be restarted is, after an agent's run that its dead network made fail: `never`, `idle` (with no other sandbox live) or `always`. Default: `"idle"`. */
  readonly engine_restart?: "never" | "idle" | "always" | undefined;
  readonly session?:
    | {
        /** A session without a call for so long ends, files and all. Default: `"15m"`. */
        readonly idle_timeout?: string | number | undefined;
      }
    | undefined;
  readonly network?:
    | {
        /** Whether a request may ask for network `open`: every public name. Default: `false`. */
        readonly allow_open?: boolean | undefined;
        /** Hosts that may be reached although their addresses are private, each at its port only, where a run's network allows them. Default: `[]`. */
        readonly private_hosts?: readonly string[] | undefined;
        /** DNS servers that names are looked up at for sandboxes; none: by the host's own means. Default: `[]`. */
        readonly dns_servers?: readonly string[] | undefined;
        /** Addresses at which this machine is reached besides those of its own interfaces, such as the one of a NAT before it: refused to sandboxes as the machine itself. Default: `[]`. */
        readonly host_addresses?: readonly string[] | undefined;
        /** Whether names that cannot be looked up here are handed to the upstream proxy of `HTTPS_PROXY`, which then decides where they lead: weaker, and without network `open`. Default: `false`. */
        readonly upstream_resolves?: boolean | undefined;
        /** Most bytes that one sandbox may send and receive over the network. Default: `1073741824`. */
        readonly max_bytes?: number | undefined;
      }
    | undefined;
  readonly warm_pool?:
    | {
        /** Whether one-shot runs find sandboxes whose interpreter waits already: `on` or `off`; `auto` is `on` for `glovebox serve` and `glovebox mcp`, and `off` in the library. Commands such as `glovebox run` never have any. Default: `"auto"`. */
        readonly mode?: "auto" | "on" | "off" | undefined;
        /** Sandboxes that wait of each kind that was asked for, however long ago; unset: 1 for a server, 0 over stdio and in the library. Default: `null`. */
        readonly min?: number | null | undefined;
        /** Most sandboxes that wait at once, of all kinds together; they are among `max_containers`. Default: `8`. */
        readonly max?: number | undefined;
        /** After so long without a run of its kind only `min` sandboxes of it wait on. Default: `"5m"`. */
        readonly idle_timeout?: string | number | undefined;
        /** A sandbox that has waited for so long is replaced. Default: `"30m"`. */
        readonly max_age?: string | number | undefined;
        /** No sandbox is made to wait while this machine has fewer MB (MiB) of memory available. Default: `512`. */
        readonly min_free_mb?: number | undefined;
      }
    | undefined;
  readonly packages?:
    | {
        /** Where installed packages are kept. Default: `"~/.glovebox/packages"`. */
        readonly directory?: string | undefined;
        /** Most MB (MiB) of packages that are kept; beyond it those not used for longest are removed. Default: `10240`. */
        readonly max_mb?: number | undefined;
        /** Whether packages are installed on this machine itself, without a sandbox and without install scripts, for programs at isolation `preload`. Default: `false`. */
        readonly install_at_preload?: boolean | undefined;
        /** Packages that may be installed, such as `lodash`, `@scope/*` or `python:numpy`; none: every one. Default: `[]`. */
        readonly allow?: readonly string[] | undefined;
        /** Packages that may not be installed, nor be brought along by others; in the same form as `allow`. Default: `[]`. */
        readonly deny?: readonly string[] | undefined;
        /** How long a version must have been published before it is installed; unset: 24 hours, where the package manager and the registry can tell. */
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
  /** Secrets that requests may ask for by name, and where their values are read. Default: `{}`. */
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
  /** Path of the mount allowlist; unset: the user's own, if there is one. Default: `null`. */
  readonly mount_allowlist?: string | null | undefined;
  /** Folders below which requests may name files and projects; unset: none for the server, the working directory on the user's own machine. Default: `null`. */
  readonly project_roots?: readonly string[] | null | undefined;
  /** Files through which a project runs code on its owner's machine: `named` when a command has changed them, or `locked` against it where they exist; a request can ask for more, not for less. Default: `"named"`. */
  readonly tooling_files?: "named" | "locked" | undefined;
  /** Files and folders of projects that count as such beside the built-in ones, such as `tools/hooks`. Default: `[]`. */
  readonly tooling_paths?: readonly string[] | undefined;
  /** Origins of web pages that may call the server, each as browsers send it; others are refused. Default: `[]`. */
  readonly allowed_origins?: readonly string[] | undefined;
  /** Names by which the server is reached beyond loopback, without ports; requests for others are refused. Default: `[]`. */
  readonly allowed_hosts?: readonly string[] | undefined;
  readonly preview?:
    | {
        /** Domain below which each preview has a name of its own beyond loopback, with `https://` before it where something before this server does TLS; unset: previews are reached from the server's machine only. Default: `null`. */
        readonly domain?: string | null | undefined;
        /** Origin that requests of previews under `/api` go to; unset: they are refused. Default: `null`. */
        readonly backend?: string | null | undefined;
      }
    | undefined;
  readonly agents?:
    | {
        /** Folder with the folders of groups (`groups/NAME`, `data/pi/NAME`, `data/ipc/NAME`); unset: none for the server, the working directory on the user's own machine. Default: `null`. */
        readonly directory?: string | null | undefined;
        /** Folder that the main group has at `/workspace/project`; unset: that of `agents.directory`. Default: `null`. */
        readonly project?: string | null | undefined;
        /** The only group that may run as the main one. Default: `"main"`. */
        readonly main_group?: string | undefined;
        /** The main group's workspace; made when it is missing. Default: `"~/nano"`. */
        readonly main_workspace?: string | undefined;
        /** Image of agents, unless their group has its own; the default one is built by Glovebox. Default: `"glovebox-agent"`. */
        readonly image?: string | undefined;
        /** The Linux with Node that the image of agents is built on. Default: `"node:24-slim"`. */
        readonly image_base?: string | undefined;
        /** Which agent works, unless its group has its own: a name of the table in docs/agents.md. Default: `"pi"`. */
        readonly agent?: string | undefined;
        /** Names that agents may reach beside their model's, unless their group has its own list: domains, or `none`, `registries` or `open` alone. Default: `[]`. */
        readonly network?: readonly string[] | undefined;
        /** Names of this machine's variables that agents get beside those of the table in docs/agents.md. Default: `[]`. */
        readonly variables?: readonly string[] | undefined;
        readonly memory?:
          | {
              /** Least relevance to the prompt of a passage of a group's memory that agents are given, from 0 to 1. Default: `0.3`. */
              readonly min_relevance?: number | undefined;
              /** Most characters of such passages together; 0 gives none. Default: `8000`. */
              readonly max_characters?: number | undefined;
            }
          | undefined;
        /** Newest logs of runs that are kept of each group; older ones are removed when a run begins. Default: `100`. */
        readonly max_logs?: number | undefined;
        /** Folder that every agent has at `/workspace/farm-state`; unset: none. Default: `null`. */
        readonly farm_state?: string | null | undefined;
        /** Folder that every agent has at `/workspace/dashboard`; unset: none. Default: `null`. */
        readonly dashboard?: string | null | undefined;
        /** Settings of single groups by their names; in the variable as JSON. Default: `{}`. */
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
  /** How long running work may go on when the server is asked to end; then it is ended. Default: `"30s"`. */
  readonly drain_timeout?: string | number | undefined;
  /** Path of a file with API keys, which is only read; unset: the user's own, which `glovebox keys` writes. Default: `null`. */
  readonly keys_file?: string | null | undefined;
  readonly store?:
    | {
        /** Where runs, logs, metrics and alerts are kept: `sqlite`, `postgres`, or `off`; `auto` is `sqlite` for `glovebox serve` and `off` elsewhere. Default: `"auto"`. */
        readonly kind?: "auto" | "off" | "sqlite" | "postgres" | undefined;
        /** File of the SQLite store; unset: `store.db` in the state folder. Default: `null`. */
        readonly file?: string | null | undefined;
        /** URL of the PostgreSQL store, never shown; without a password in it `PGPASSWORD` or `~/.pgpass` counts. Default: `null`. */
        readonly url?: string | null | undefined;
        /** Days after which what is stored is removed. Default: `30`. */
        readonly max_age_days?: number | undefined;
        /** Most MB (MiB) of stored log entries; beyond it the oldest are removed. Default: `1024`. */
        readonly max_mb?: number | undefined;
      }
    | undefined;
  readonly logs?:
    | {
        /** URL of a Redis that log entries are published to, never shown; unset: none. Default: `null`. */
        readonly redis_url?: string | null | undefined;
      }
    | undefined;
  /** Least severe entry that the log keeps. Default: `"warn"`. */
  readonly log_level?: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent" | undefined;
}
