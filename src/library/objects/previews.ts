import {
  previewStatusContract,
  stopPreviewContract,
  startPreviewContract,
} from "../../operations/previews-contract.ts";
import type { CallOptions } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import type { PreviewOptions, PreviewStatusOptions } from "./generated/options.ts";
import type { PreviewDetails, StoppedPreview } from "./generated/results.ts";

/** Pages of projects, served from sandboxes until they are closed. */
export class Previews {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Starts one on a copy of a project and waits up to `waitSeconds` until its port answers. A command that fails is a
   * preview with the status `error`. @throws what starting a sandbox throws
   */
  async start(options: PreviewOptions, call?: CallOptions): Promise<Preview> {
    const details = await this.#calls.send(startPreviewContract, options, call);
    return new Preview(this.#calls, details.containerId, details);
  }

  /** A preview by its `containerId`. Sends no request; its calls throw NOT_FOUND if it does not exist. */
  get(containerId: string): Preview {
    return new Preview(this.#calls, containerId, null);
  }
}

/** One preview. `await using` ends it. */
export class Preview implements AsyncDisposable {
  readonly id: string;
  /** The answer of the call that started it, with its `url`; null if it was opened by its id. */
  readonly details: PreviewDetails | null;
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls, id: string, details: PreviewDetails | null) {
    this.#calls = calls;
    this.id = id;
    this.details = details;
  }

  /** Its current state; with `waitSeconds` (at most 30), waits while it starts. */
  status(options: PreviewStatusOptions = {}, call?: CallOptions): Promise<PreviewDetails> {
    return this.#calls.send(previewStatusContract, { ...options, id: this.id }, call);
  }

  /** Ends it gracefully and removes its sandbox. @throws NOT_FOUND if it has already ended */
  close(call?: CallOptions): Promise<StoppedPreview> {
    return this.#calls.send(stopPreviewContract, { id: this.id }, call);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
