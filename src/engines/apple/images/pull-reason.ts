import { failureKind, failureWords } from "../command/command-failure.ts";

/** Kinds that speak of the service and not of an image. */
const services = new Set(["down", "interrupted", "late"]);
const maxChars = 300;

/** Why an image could not be fetched or made, in one line without the command's wrapping; null when the service failed. */
export function pullReason(stderr: string): string | null {
  const words = failureWords(stderr) ?? stderr.trim();
  if (services.has(failureKind(words))) return null;
  const status = /failed with response: ([^"]*?)(?:\. Reason: ([^"]*))?(?:"|$)/s.exec(words);
  const reason = status === null ? words : [status[1], status[2]].filter((part) => part !== undefined).join(": ");
  const line = reason.replaceAll(/\s+/g, " ").trim().replace(/\.$/, "");
  return line === "" ? "the command gave no reason" : line.slice(0, maxChars);
}
