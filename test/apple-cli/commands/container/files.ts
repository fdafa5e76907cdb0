import { spawn } from "node:child_process";
import { createWriteStream, existsSync, readFileSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { Context, Work } from "../../context.ts";
import { framesOf } from "../../docker/frames.ts";
import { CommandError, NotImitated } from "../../output/command-error.ts";
import { isAtLeast } from "../../parser/version.ts";

interface Place {
  readonly id: string | undefined;
  readonly path: string;
}

function readPlace(text: string): Place {
  const parts = text.split(":");
  if (parts.length === 1) return { id: undefined, path: text };
  const [id = "", inside = ""] = parts;
  if (parts.length > 2 || id === "" || !inside.startsWith("/")) {
    throw new CommandError("invalidArgument", `invalid path given: ${text}`);
  }
  return { id, path: inside };
}

/** Runs a program as root, instead of the agent in the guest, which has more rights than the container. */
async function asAgent(
  { api, containers }: Context,
  id: string,
  command: readonly string[],
  input: Buffer,
): Promise<{ readonly exitCode: number; readonly output: Buffer }> {
  const body = {
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Cmd: command,
    User: "0:0",
  };
  const made = await api.json<{ Id: string }>("POST", `/containers/${containers.nameOf(id)}/exec`, body);
  const { socket, head } = await api.hijack(`/exec/${made.Id}/start`, { Detach: false, Tty: false });
  socket.end(input);
  const chunks: Buffer[] = [];
  async function* all(): AsyncGenerator<Buffer> {
    if (head.length > 0) yield head;
    for await (const chunk of socket) yield chunk as Buffer;
  }
  for await (const { stream, bytes } of framesOf(all())) if (stream === "stdout") chunks.push(bytes);
  const { ExitCode } = await api.json<{ ExitCode: number | null }>("GET", `/exec/${made.Id}/json`);
  return { exitCode: ExitCode ?? 255, output: Buffer.concat(chunks) };
}

async function tarOf(folder: string, name: string): Promise<Buffer> {
  const tar = spawn("tar", ["-cf", "-", "-C", folder, name], { stdio: ["ignore", "pipe", "ignore"] });
  const chunks: Buffer[] = [];
  for await (const chunk of tar.stdout) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A file arrives with mode 0644, in a folder that is created if needed; a folder keeps its modes. */
async function copyIn(context: Context, source: string, id: string, target: string): Promise<void> {
  const full = path.resolve(context.cwd, source);
  if (!existsSync(full)) throw new CommandError("notFound", `source path does not exist: ${source}`);
  const name = path.basename(full);
  if (statSync(full).isDirectory()) {
    const script = 'mkdir -p "$0" && tar -xf - -C "$0"';
    mustWork(await asAgent(context, id, ["sh", "-c", script, target], await tarOf(path.dirname(full), name)));
    return;
  }
  const script = 'if [ -d "$0" ]; then f=$0/$1; else f=$0; mkdir -p "$(dirname "$0")"; fi; cat >"$f" && chmod 644 "$f"';
  mustWork(await asAgent(context, id, ["sh", "-c", script, target, name], readFileSync(full)));
}

function mustWork({ exitCode }: { readonly exitCode: number }): void {
  if (exitCode !== 0) throw new NotImitated("copying where root in the container may not write is not imitated");
}

async function copyOut(context: Context, id: string, source: string, target: string): Promise<void> {
  const { exitCode, output } = await asAgent(context, id, ["cat", source], Buffer.alloc(0));
  // A missing path is waited for forever.
  if (exitCode !== 0) await new Promise(() => setInterval(() => undefined, 60_000));
  const full = path.resolve(context.cwd, target);
  const isFolder = existsSync(full) && statSync(full).isDirectory();
  const file = isFolder ? path.join(full, path.basename(source)) : full;
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, output, { mode: 0o644 });
}

/** Copies a file or folder into a running container, or a file out of one; prints the target. */
export const copy: Work = async (context) => {
  const { containers, options, say } = context;
  const [from, to] = [readPlace(options.argument(0)), readPlace(options.argument(1))];
  if (from.id !== undefined && to.id !== undefined) {
    throw new CommandError("invalidArgument", "copying between containers is not supported");
  }
  const id = from.id ?? to.id;
  if (id === undefined) {
    const text = "one of source or destination must be a container reference (container_id:path)";
    throw new CommandError("invalidArgument", text);
  }
  const found = await containers.find(id);
  if (found === undefined) throw new CommandError("notFound", `get failed: container ${id} not found`);
  if (found.status.state !== "running") throw new CommandError("invalidState", `container ${id} is not running`);
  await (from.id === undefined ? copyIn(context, from.path, id, to.path) : copyOut(context, id, from.path, to.path));
  say.out(to.path);
};

/** Writes a container's root as a tar archive. */
export const exportRoot: Work = async ({ api, containers, cwd, options, settings }) => {
  const id = options.argument(0);
  const found = await containers.find(id);
  if (found === undefined) throw new CommandError("notFound", `get failed: container ${id} not found`);
  if (found.status.state === "running" && !isAtLeast(settings.version, "1.2.1")) {
    throw new CommandError("invalidState", `container ${id} is not stopped`);
  }
  const file = options.one("output");
  const answer = await api.stream("GET", `/containers/${found.name}/export`);
  await pipeline(answer, file === undefined ? process.stdout : createWriteStream(path.resolve(cwd, file)));
};
