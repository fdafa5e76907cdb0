import type { OperationEvent } from "../../operations/contract/operation-event.ts";
import { startPreviewContract, type StartPreviewResponse } from "../../operations/previews/start-preview-contract.ts";
import type { CommandIo } from "../command-io.ts";
import type { CommandCalls } from "../open-calls.ts";
import { describeDenial } from "../output/error-report.ts";
import { ProgressLine } from "../output/progress-line.ts";
import { escapeLine } from "../output/terminal-escape.ts";

/** Starts the preview and tells on stderr what goes on until its command runs. */
export async function startPreview(
  calls: CommandCalls,
  request: Readonly<Record<string, unknown>>,
  { stderr, signal }: CommandIo,
): Promise<StartPreviewResponse> {
  const progress = new ProgressLine(stderr);
  const told = new Set<string>();
  const warn = (message: string): void => {
    if (told.has(message)) return;
    told.add(message);
    stderr.write(`glovebox: ${escapeLine(message)}\n`);
  };
  const onEvent = (event: OperationEvent): void => {
    if (event.type === "progress") return progress.show(event.message, event.fraction);
    progress.clear();
    if (event.type === "denied") stderr.write(describeDenial(event.denial));
    if (event.type === "warning") warn(event.message);
  };
  try {
    const started = await calls.send(startPreviewContract, request, { onEvent, signal });
    progress.clear();
    for (const warning of started.warnings) warn(warning);
    return started;
  } finally {
    progress.clear();
  }
}
