import { GloveboxError } from "../../errors/glovebox-error.ts";

/** @throws CANCELLED when the signal comes first */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => {
      clearTimeout(timer);
      reject(new GloveboxError("CANCELLED", "The wait was cancelled.", { cause: signal?.reason }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", cancel);
      resolve();
    }, ms);
    if (signal?.aborted === true) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
  });
}
