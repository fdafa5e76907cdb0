import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { EngineName } from "../../engine.ts";
import type { ApiAnswer } from "./api-request.ts";

interface Product {
  readonly engine: EngineName;
  readonly title: string;
}

/** The engine's own message in an answer that refuses. */
export function refusalReason(answer: ApiAnswer): string {
  const { body } = answer;
  if (typeof body === "string") return body.trim();
  if (typeof body !== "object" || body === null) return "";
  const { message, cause } = body as { readonly message?: unknown; readonly cause?: unknown };
  return [message, cause].find((words): words is string => typeof words === "string" && words !== "")?.trim() ?? "";
}

/**
 * The status that an answer would have if it were consistent: Podman answers 500 when a container goes away during the
 * call, and 404 when it was gone before.
 */
export function consistentStatus(answer: ApiAnswer): number {
  return answer.status === 500 && /no such container/i.test(refusalReason(answer)) ? 404 : answer.status;
}

/**
 * A refusal that no caller expected, in the catalogue's terms. `action` completes "failed to ...".
 * The engine's words are only the cause, because they may hold paths of its host; those of a 400 speak of what we sent.
 */
export function statusError(product: Product, action: string, answer: ApiAnswer): GloveboxError {
  const { engine, title } = product;
  const reason = refusalReason(answer);
  const cause = new Error(`HTTP ${answer.status}: ${reason}`);
  const context = { engine, http_status: answer.status };
  if (answer.status === 404 || isContainerGone(answer.status, reason)) {
    return new GloveboxError("SANDBOX_LOST", `${title} lost the container: failed to ${action}.`, {
      context,
      cause,
    });
  }
  if (answer.status === 409 && /already in use/.test(reason)) {
    return new GloveboxError("ALREADY_EXISTS", `${title} has a container of this name: failed to ${action}.`, {
      context,
      cause,
    });
  }
  if (/rlimit/.test(reason)) {
    return new GloveboxError("UNSUPPORTED", `${title} cannot raise a limit as far as asked: failed to ${action}.`, {
      suggestion: "Lower the limit of open files, or give the engine the right to raise it.",
      context,
      cause,
    });
  }
  if (/seccomp/i.test(reason)) {
    return new GloveboxError("UNSUPPORTED", `${title} refuses the seccomp profile: failed to ${action}.`, {
      context,
      cause,
    });
  }
  if (/bind source path does not exist|statfs |invalid mount config/.test(reason)) {
    return new GloveboxError("UNSUPPORTED", `${title} does not see a folder of this machine: failed to ${action}.`, {
      suggestion: "Let the engine run on this machine, with this folder in the same place for both.",
      context,
      cause,
    });
  }
  const target = /error mounting "[^"]{1,4096}" to rootfs at "(\/[\w./-]{1,200})"/.exec(reason)?.[1];
  if (target !== undefined) {
    return new GloveboxError("UNSUPPORTED", `${title} cannot mount ${target} in this image: failed to ${action}.`, {
      suggestion: `Use an image in which ${target} is no link and nothing unusual.`,
      context: { ...context, path: target },
      cause,
    });
  }
  if (answer.status === 400) {
    return new GloveboxError("UNSUPPORTED", `${title} refuses to ${action}: ${reason}`, { context, cause });
  }
  return new GloveboxError("INTERNAL", `${title} failed to ${action} (HTTP ${answer.status}).`, { context, cause });
}

function isContainerGone(status: number, reason: string): boolean {
  if (status !== 409 && status !== 500) return false;
  return /is not running|is paused|stopped (?:container|state)|container state improper|marked for removal|removal .{0,400} in progress/.test(
    reason,
  );
}
