import type { IncomingMessage } from "node:http";
import type { Work } from "../../context.ts";
import { framesOf } from "../../docker/frames.ts";
import { CommandError } from "../../output/command-error.ts";
import { writeAll } from "../../program/carry-streams.ts";

async function* textsOf(response: IncomingMessage, terminal: boolean): AsyncGenerator<Buffer> {
  if (terminal) for await (const chunk of response) yield chunk as Buffer;
  else for await (const { bytes } of framesOf(response)) yield bytes;
}

/** Passes lines on as they arrive, without blank ones. */
async function followLines(texts: AsyncIterable<Buffer>): Promise<void> {
  let rest = "";
  for await (const bytes of texts) {
    const lines = `${rest}${bytes.toString()}`.split("\n");
    rest = lines.pop() ?? "";
    const whole = lines.filter(Boolean).map((line) => `${line}\n`);
    if (whole.length > 0) await writeAll(process.stdout, Buffer.from(whole.join("")));
  }
}

/** Shows what a container's own program has written, both streams as one; --follow never ends by itself. */
export const logs: Work = async ({ api, containers, options, say }) => {
  const id = options.argument(0);
  const found = await containers.find(id);
  if (found === undefined) {
    const inner = `failed to open container logs: ${new CommandError("notFound", `container with ID ${id} not found`).coded()}`;
    throw new CommandError(
      "internalError",
      `failed to get logs for container ${id}`,
      new CommandError("internalError", inner),
    );
  }
  if (options.has("boot")) {
    say.out("[    0.000000] Linux version 6.12.28 (a stand-in has no kernel of its own)");
    return;
  }
  const { configuration, status, name } = found;
  const follow = options.has("follow");
  // Each start begins a new log.
  const since = Math.floor((status.startedMs ?? 0) / 1000);
  const path = `/containers/${name}/logs?stdout=1&stderr=1&since=${since}&follow=${follow ? 1 : 0}`;
  const texts = textsOf(await api.stream("GET", path), configuration.terminal);
  if (follow) {
    await followLines(texts);
    await new Promise(() => setInterval(() => undefined, 60_000));
  }
  const chunks: Buffer[] = [];
  for await (const bytes of texts) chunks.push(bytes);
  const text = Buffer.concat(chunks).toString();
  const lines = options.number("n");
  if (lines === undefined) say.out(text.replace(/^\n+|\n+$/g, ""));
  else {
    const last = text.split("\n").filter(Boolean).slice(-lines);
    if (last.length > 0) say.out(last.join("\n"));
  }
};
