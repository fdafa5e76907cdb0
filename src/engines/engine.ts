import type { processSignals } from "../operations/contract/wire-values.ts";
import type { Duplex, Writable } from "node:stream";
import type { Capabilities, EngineFinding, EngineComponent, EngineSetup } from "./capabilities.ts";
import type { ContainerFiles } from "./container-files.ts";
import type { ContainerSpec } from "./container-spec.ts";
import type { ContainerStats } from "./container-stats.ts";

/** Name of an engine, as the engine table has it; nothing decides by it. */
export type EngineName = string;

/** Every call of the interface takes these; an aborted call leaves nothing behind. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options of `Engine.capabilities`. */
export interface CapabilityOptions extends CallOptions {
  /** Default: the engine's own. */
  readonly ociRuntime?: string | undefined;
}

/** What runs containers: one adapter for each product, told apart only by `capabilities`. */
export interface Engine extends AsyncDisposable {
  readonly name: EngineName;
  readonly images: ImageStore;
  /** Whether the engine can be used now; resolves also when it cannot. Cheap enough for each start. */
  probe(options?: CallOptions): Promise<EngineProbe>;
  /**
   * What this engine can enforce on this machine, with the OCI runtime named; asked once and remembered.
   * @throws ENGINE_UNAVAILABLE with start instructions, UNSUPPORTED naming the runtimes there are
   */
  capabilities(options?: CapabilityOptions): Promise<Capabilities>;
  /**
   * Makes a container that does not run yet. The image must be present.
   * @throws IMAGE_UNAVAILABLE when it is not, UNSUPPORTED for what cannot be enforced, ENGINE_UNAVAILABLE
   */
  create(spec: ContainerSpec, options?: CallOptions): Promise<Container>;
  /** Containers, running or not, that carry all the given labels. */
  list(labels: Readonly<Record<string, string>>, options?: CallOptions): Promise<readonly ContainerSummary[]>;
  /**
   * Mends the engine after a run that may have failed by its fault, such as a network that lets nothing through; resolves
   * to whether the run is worth another try. Left out: there is nothing that it could do.
   */
  readonly mend?: ((trouble: EngineTrouble, options?: CallOptions) => Promise<boolean>) | undefined;
  /**
   * What is wrong with how it is set up, looked at closer than by a probe; it makes nothing. Left out: a probe tells all.
   * @throws ENGINE_UNAVAILABLE
   */
  readonly check?: ((options?: CallOptions) => Promise<readonly EngineFinding[]>) | undefined;
  /** What it knows of the servers that share it, where they may be on several machines. Left out: this machine knows them. */
  readonly owners?: OwnerWatch | undefined;
  /** Gives back what the adapter itself holds; containers stay. */
  close(): Promise<void>;
}

/** Leases that servers keep on an engine that several machines use. */
export interface OwnerWatch {
  /** After so long a server that is gone is known to be, from the first look on. */
  readonly settlesMs: number;
  /** Takes the lease of the server that opened the engine, and keeps it renewed until that is closed; asking again changes nothing. */
  hold(): Promise<void>;
  stateOf(server: string, options?: CallOptions): Promise<"living" | "expired" | "unknown">;
  /** Removes leases that have run out, except of servers that have left something. */
  forget(busy: ReadonlySet<string>, options?: CallOptions): Promise<void>;
}

/** A run that failed, as an engine may want to know of it. */
export interface EngineTrouble {
  /** What the run and its errors said; input is untrusted. */
  readonly text: string;
  /** Name of its container, where there is one. */
  readonly container?: string | undefined;
  /** When it began, milliseconds since the epoch. */
  readonly beganAtMs: number;
}

/** Answer of `Engine.probe`. */
export type EngineProbe =
  | {
      readonly available: true;
      readonly version: string;
      readonly capabilities: Capabilities;
      /** Its parts, as far as it tells. */
      readonly components?: readonly EngineComponent[] | undefined;
      readonly setup?: EngineSetup | undefined;
    }
  | {
      readonly available: false;
      /** One sentence: what was tried and what came. */
      readonly reason: string;
      /** Commands or steps that start or install it on this platform. */
      readonly howToStart: string;
      /** Nothing of it is on this machine; default: that is not known. */
      readonly isAbsent?: true | undefined;
    };

/**
 * Images of one engine. A reference stands for the image with exactly that name and tag, or that whole digest or id. A
 * name of an image that Glovebox prepared is POLICY_DENIED: only its id leads to it.
 */
export interface ImageStore {
  /** Whether the image is present, without any network access. */
  has(reference: string, options?: CallOptions): Promise<boolean>;
  /**
   * A name for the present image's content: another one when its tag moves on, and a reference of the image by itself.
   * Where there are no images it names the host's interpreters. @throws IMAGE_UNAVAILABLE when it is not present
   */
  identity(reference: string, options?: CallOptions): Promise<string>;
  /**
   * Fetches the image from its registry. @throws IMAGE_UNAVAILABLE naming it and one of a fixed set of reasons
   */
  pull(reference: string, options?: PullOptions): Promise<void>;
  /**
   * Makes the image from a Dockerfile, which may reach the network as the engine's builds do.
   * @throws IMAGE_UNAVAILABLE with the last lines of the step that failed, UNSUPPORTED where there are no images
   */
  build(build: ImageBuild, options?: BuildOptions): Promise<void>;
  /** Labels of the present image. @throws IMAGE_UNAVAILABLE when it is not present */
  labels(reference: string, options?: CallOptions): Promise<Readonly<Record<string, string>>>;
  /** The image with its name as an archive for `load`, as it comes; left out: it is not available. @throws IMAGE_UNAVAILABLE */
  readonly save?: ((reference: string, options?: CallOptions) => AsyncIterable<Uint8Array>) | undefined;
  /**
   * Takes an archive of this image, which names no other. Left out: it is not available.
   * @throws IMAGE_UNAVAILABLE with the engine's reason
   */
  readonly load?:
    | ((reference: string, archive: AsyncIterable<Uint8Array>, options?: CallOptions) => Promise<void>)
    | undefined;
  /** Removes the image; resolves when it is gone already. */
  remove(reference: string, options?: CallOptions): Promise<void>;
  /**
   * Images that `Container.commit` made and that carry all the given labels. One that somebody has named is theirs, and so
   * is one that was made of such an image and has its labels from there.
   */
  list(labels: Readonly<Record<string, string>>, options?: CallOptions): Promise<readonly ImageSummary[]>;
}

export interface ImageSummary {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Removes it unless a container uses it, running or not; resolves to whether it is gone. */
  remove(options?: CallOptions): Promise<boolean>;
}

/** What an image is made from. */
export interface ImageBuild {
  /** Its name from then on. */
  readonly reference: string;
  /** A tar archive with a `Dockerfile` at its top. */
  readonly context: Uint8Array;
  /** Values of the Dockerfile's arguments. */
  readonly arguments: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

export interface BuildOptions extends CallOptions {
  /** Told each line of the build's output. */
  readonly onLine?: ((line: string) => void) | undefined;
}

export interface PullOptions extends CallOptions {
  /** Whether this machine's registry credentials may be used; default false, which some engines refuse. */
  readonly useCredentials?: boolean | undefined;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

/** A step of a pull; bytes are null while unknown. */
export interface PullProgress {
  readonly status: string;
  readonly currentBytes: number | null;
  readonly totalBytes: number | null;
}

export interface ContainerSummary {
  readonly id: string;
  /** As `ContainerSpec.name`; empty where it has none. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly running: boolean;
  /** When it was created, milliseconds since the epoch. */
  readonly createdAtMs: number;
  /** Ends and removes it, whatever its state; resolves when it is gone already. */
  remove(options?: CallOptions): Promise<void>;
}

/** One isolated place that runs processes. */
export interface Container {
  readonly id: string;
  /**
   * Where a folder of the spec's scratch really is, for an engine that cannot give it the path of the spec; programs know
   * it by that name. Other paths are as they are. Left out: all are.
   */
  folderOf?(path: string): string;
  /**
   * Connects to the main process of `spec.command`, before `start`, so that nothing is missed.
   * @throws UNSUPPORTED when the spec has no command of its own
   */
  attach(options?: CallOptions): Promise<Process>;
  /** @throws POLICY_DENIED when a mount is not what its `identity` says; the container is removed then */
  start(options?: CallOptions): Promise<void>;
  /**
   * Whether every mount with an `identity` was found to be that, at the start. False where the mounts cannot be seen from
   * here, such as behind a virtual machine. Left out: false.
   */
  readonly mountsVerified?: boolean;
  /**
   * Runs one more process in the running container.
   * An abort that comes when the process can no longer be held back does not concern the call: it resolves, because
   * only the owner of the handle can end the process.
   */
  exec(spec: ExecSpec, options?: CallOptions): Promise<Process>;
  /**
   * Connects to a TCP port on the loopback that its programs listen on. Either end can be closed by itself;
   * a connection that breaks closes without an end, on some engines with an error.
   * @throws NETWORK_ERROR when nothing listens there, UNSUPPORTED where `capabilities.execNetwork` is `none`, CAPACITY,
   * SANDBOX_LOST
   */
  connect(port: number, options?: CallOptions): Promise<Duplex>;
  /**
   * Listens on the loopback for programs, and hands each of their connections over, at most 64 at once. Left out where no
   * program of ours is pid 1.
   * @throws NETWORK_ERROR when a program listens there, CAPACITY, SANDBOX_LOST
   */
  readonly listen?:
    | ((port: number, onConnection: (connection: Duplex) => void, options?: CallOptions) => Promise<OpenedPort>)
    | undefined;
  /**
   * Has `onName` told the names that its programs look up, as they spelled them, each once, the first 20, until it is disposed of; a
   * resolver inside knows no name and says so at once. Never holds anything up; where there is no such resolver nothing is told.
   * Left out as `listen`. @throws SANDBOX_LOST
   */
  readonly hearNames?: ((onName: (name: string) => void) => Disposable) | undefined;
  /** As `exec`, with a terminal for its input, output and errors: all of it comes as standard output. Left out as `listen`. */
  readonly execInTerminal?:
    | ((spec: ExecSpec, size: TerminalSize, options?: CallOptions) => Promise<TerminalProcess>)
    | undefined;
  /** Puts a file there that programs may read. Left out as `listen`. @throws PERMISSION_DENIED, CAPACITY, SANDBOX_LOST */
  readonly placeFile?: ((file: PlacedFile, options?: CallOptions) => Promise<void>) | undefined;
  /**
   * Files beneath an absolute folder, as `user` (`uid:gid`; default `processUser`) has them. Left out where no supervisor runs
   * inside.
   */
  files?(folder: string, user?: string): ContainerFiles;
  inspect(options?: CallOptions): Promise<ContainerState>;
  /** Whether programs can be started in it, which a paused one's cannot; asked in about 2 ms where something of ours runs inside. */
  isAlive(options?: CallOptions): Promise<boolean>;
  /** Resources used so far; what the engine cannot tell is null. */
  stats(options?: CallOptions): Promise<ContainerStats>;
  /**
   * Has `listener` told its statistics now and then each second while it runs, in place of an earlier one; it does not throw.
   * False, and left out: it cannot tell by itself and must be asked.
   */
  watchStats?(listener: (stats: ContainerStats) => void): boolean;
  /** Bytes of the files that programs have written to a writable root; null where there is none, or it cannot be told. */
  writtenBytes(options?: CallOptions): Promise<number | null>;
  /** The folder of this machine that holds those files; null where there is none, or it is not known. */
  writtenFolder(options?: CallOptions): Promise<string | null>;
  /** Resolves when the main process has ended (at once when it already has). */
  wait(options?: CallOptions): Promise<ContainerState>;
  /** SIGTERM to the main process, SIGKILL to everything after `graceMs`; resolves when nothing runs any more. */
  stop(graceMs: number, options?: CallOptions): Promise<void>;
  /** SIGKILL to everything in the container; resolves also when it had ended. */
  kill(options?: CallOptions): Promise<void>;
  /**
   * Makes an image of the container's files, mounts and scratch apart, and resolves to its id.
   * It gets the labels, whose names and values have no space and no quotation mark, over those of the container.
   * @throws UNSUPPORTED where there are no images
   */
  commit(labels: Readonly<Record<string, string>>, options?: CallOptions): Promise<string>;
  /** Ends and removes the container with all that belongs to it; resolves when it is gone already. */
  remove(options?: CallOptions): Promise<void>;
}

/** Size of a terminal, in characters. */
export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

/** A process with a terminal. */
export interface TerminalProcess extends Process {
  /** The size of its terminal from now on. */
  resize(size: TerminalSize): void;
}

/** A port that is listened on. */
export interface OpenedPort {
  /** The port is free at once for the next call; connections stay. */
  close(): Promise<void>;
}

/** A file of ours for programs. */
export interface PlacedFile {
  /** Absolute; one that is there is replaced. */
  readonly path: string;
  readonly content: Uint8Array;
  /** `uid:gid` of its owner; default: the container's `processUser`. */
  readonly user?: string | undefined;
}

/** A process to start inside a running container. */
export interface ExecSpec {
  /** Program and arguments; never a shell string. */
  readonly command: readonly string[];
  /** Added to the container's own environment. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether it has the container's own environment; default true. What Glovebox runs for itself has not: those variables
   * are a caller's, and some of them (LD_PRELOAD, PATH) put code of others into a program.
   */
  readonly inheritsEnvironment?: boolean | undefined;
  /** Absolute path inside the container; default: the container's working directory. */
  readonly workingDirectory?: string | undefined;
  /** `uid:gid`; default: the container's `processUser`. */
  readonly user?: string | undefined;
}

/** A running process and its three streams. */
export interface Process {
  /** Ending it gives the process end-of-file. Errors of writing to a process that has ended are swallowed. */
  readonly stdin: Writable;
  /** Must be read: unread output holds the process up (back-pressure). Ends when both streams have ended. */
  readonly output: AsyncIterable<OutputChunk>;
  /**
   * How it ended; settles also when `output` is not read to its end.
   * Never a rejection for a non-zero code.
   * @throws SANDBOX_LOST when the engine or the container went away under it
   */
  readonly exit: Promise<ProcessExit>;
  /**
   * Sends the signal to the process and all that it started, also when it has ended itself. SIGKILL resolves when nothing of it is left.
   * @throws SANDBOX_LOST when something may be left: then only the container's end is certain
   */
  kill(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  /**
   * Whether nothing that it started is left, itself included, as far as that can be told without a kill.
   * Left out: its own end is the end of all that it started.
   */
  isGone?(): Promise<boolean>;
  /**
   * Sends the signal to the process itself and to nothing else; nothing happens when it has ended.
   * Left out where a process cannot be told from what it started.
   * @throws SANDBOX_LOST when it could not be sent
   */
  signal?(signal: ProcessSignal): Promise<void>;
  /** Lets it, and all that it started, go on when another program has stopped them; left out where that cannot be. */
  resume?(): void;
}

/** A signal that a program may be sent for what it does with it. */
export type ProcessSignal = (typeof processSignals)[number];

export type OutputStream = "stdout" | "stderr";

/** Bytes of one stream, in the order the process wrote them to that stream. */
export interface OutputChunk {
  readonly stream: OutputStream;
  readonly bytes: Uint8Array;
}

/** End of a process; death by signal N is 128 + N. */
export interface ProcessExit {
  readonly exitCode: number;
}

export interface ContainerState {
  readonly running: boolean;
  /** Null while it runs or when it never started; death by signal N is 128 + N. */
  readonly exitCode: number | null;
  /** Whether the main process (or its children) ended out of memory; null where the engine cannot tell. */
  readonly oomKilled: boolean | null;
}
