import type { Dialect } from "../dialect.ts";
import type { Api } from "../http/api.ts";
import type { ContainerState, CallOptions } from "../../engine.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { cancelled } from "../../../base/abort.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { refusalReason, type ApiAnswer } from "../http/api-answer.ts";
import { createId } from "../../../base/id.ts";
import { labels as ownLabels } from "../../labels.ts";
import { madeImages } from "../images.ts";

/** One container on its engine. */
export interface ContainerLink {
  readonly id: string;
  readonly api: Api;
  readonly dialect: Dialect;
}

/** Path of a call on the container. */
export function containerPath(link: Pick<ContainerLink, "id">, action: string): string {
  return `/containers/${link.id}/${action}`;
}

/** Statuses before the start; Podman prepares a container when something attaches to it. */
const notStarted: ReadonlySet<string> = new Set(["created", "initialized"]);

/** The part of a container's inspection that is read. */
export interface InspectAnswer {
  readonly State?: {
    readonly Status?: string;
    readonly Running?: boolean;
    readonly ExitCode?: number;
    readonly OOMKilled?: boolean;
    /** Of the first process, on the engine's machine; 0 without one. */
    readonly Pid?: number;
  };
}

/** A container's state from its inspection. */
export function containerState({ State: state = {} }: InspectAnswer): ContainerState {
  const running = state.Running === true;
  // A container whose program could not be started stays `created`, with an exit code.
  const ended = !running && (!notStarted.has(state.Status ?? "") || (state.ExitCode ?? 0) !== 0);
  return { running, exitCode: ended ? (state.ExitCode ?? null) : null, oomKilled: state.OOMKilled ?? null };
}

/** The container's state; null when the engine does not know it (any more). */
export async function inspectContainer(
  link: Pick<ContainerLink, "id" | "api">,
  { signal }: CallOptions = {},
): Promise<ContainerState | null> {
  const request = { method: "GET", path: containerPath(link, "json"), signal } as const;
  const { status, body } = await link.api.call("inspect the container", request, [404]);
  return status === 404 ? null : containerState(body as InspectAnswer);
}

const firstLookMs = 5;
const maxMs = 200;
/** Each wait is a quarter longer than the one before, so that little more is waited than the removal takes. */
const growth = 1.25;
/** How long a removal that someone else has started may take. */
const maxLooks = 100;
/** How often a removal that failed in the engine is requested, and how long we wait in between. */
const maxTries = 5;
const againMs = 200;

interface RemoveOptions extends CallOptions {
  /** Whether its anonymous volumes stay because another container has them. Default false. */
  readonly keepVolumes?: boolean | undefined;
}

/** Ends and removes a container and its volumes; resolves when it is gone. `idOrName` may be either. */
export async function removeContainer(
  api: Api,
  idOrName: string,
  { signal, keepVolumes = false }: RemoveOptions = {},
): Promise<void> {
  const query = { force: "1", v: keepVolumes ? "0" : "1" };
  const request = { method: "DELETE", path: `/containers/${idOrName}`, query, signal } as const;
  for (let tries = 1; ; tries += 1) {
    const answer = await api.call("remove the container", request, [404, 409, 500]);
    if (answer.status !== 409 && answer.status !== 500) return;
    if (isBeingRemoved(answer)) return untilGone(api, idOrName, signal);
    if (tries === maxTries) throw api.refusal("remove the container", answer);
    // Podman gives up on killed programs that have not died at once, as on a busy machine; later they have.
    await rest(againMs, signal);
  }
}

/** What is written on an image of a container. */
interface ImageMarks {
  readonly labels: Readonly<Record<string, string>>;
  /** The user of its programs where that is one of ours: containers of the image give it to theirs. */
  readonly programUid: number | null;
}

/** Makes an image of the container's files, by a name that no label can bring along, and resolves to its id. */
export async function commitContainer(
  { id: container, api }: Pick<ContainerLink, "id" | "api">,
  { labels, programUid }: ImageMarks,
  signal: AbortSignal | undefined,
): Promise<string> {
  const tag = createId("img");
  const marked = {
    ...labels,
    [ownLabels.image]: tag,
    ...(programUid === null ? {} : { [ownLabels.programUser]: String(programUid) }),
  };
  const changes = Object.entries(marked)
    .map(([name, value]) => `LABEL ${name}=${value}`)
    .join("\n");
  const { body } = await api.call("make an image of the container", {
    method: "POST",
    path: "/commit",
    // Paused meanwhile, so that no file is captured half written.
    query: { container, pause: "1", changes, repo: madeImages, tag },
    // Podman reads nothing of it, but fails without it.
    body: { Labels: marked },
    signal,
  });
  const { Id: id } = body as { readonly Id: string };
  // Without it, Podman takes the id for a name once the image is gone.
  return id.startsWith("sha256:") ? id : `sha256:${id}`;
}

/** By itself after its end, or through another call. */
function isBeingRemoved(answer: ApiAnswer): boolean {
  return answer.status === 409 || /container state improper|being removed|stopping/.test(refusalReason(answer));
}

async function untilGone(api: Api, idOrName: string, signal: AbortSignal | undefined): Promise<void> {
  for (let look = 0, delayMs = firstLookMs; look < maxLooks; look += 1, delayMs = Math.min(delayMs * growth, maxMs)) {
    if ((await inspectContainer({ id: idOrName, api }, { signal })) === null) return;
    await rest(delayMs, signal);
  }
  throw new GloveboxError("INTERNAL", "The engine began to remove the container and does not come to an end.");
}

async function rest(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(delayMs, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    throw cancelled(error);
  });
}
