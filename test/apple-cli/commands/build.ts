import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { readLabels } from "../container/labels.ts";
import type { Context, Work } from "../context.ts";
import { DockerError, textOf } from "../docker/docker-api.ts";
import { readReference } from "../images/reference.ts";
import { CommandError, ConnectionError, NotImitated } from "../output/command-error.ts";
import { isAtLeast } from "../parser/version.ts";
import { UsageError } from "../parser/usage-error.ts";
import { setBuilder } from "../state/builder.ts";

/** From this size on Dockerfiles are refused (from 1.0.0). */
const maxFileBytes = 16 * 1024;

const refuse = (message: string): UsageError =>
  new UsageError(message, { usage: "build [<options>] [<context-dir>]", command: "build" });

function findFile({ options, cwd }: Context, folder: string): string {
  const named = options.one("file");
  if (named === "-") return readFileSync(0, "utf8");
  const places =
    named === undefined
      ? ["Dockerfile", "Containerfile"].map((name) => path.join(folder, name))
      : [path.resolve(cwd, named)];
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return readFileSync(found, "utf8");
  throw refuse(named === undefined ? "dockerfile not found in context dir" : `dockerfile does not exist ${named}`);
}

/** Replaces names of this installation's own images with Docker's names for them. */
async function withDockerNames({ images }: Context, text: string): Promise<string> {
  const lines = text.split("\n").map(async (line) => {
    const [, before = "", name, behind = ""] = /^(\s*FROM\s+(?:--\S+\s+)*)(\S+)(.*)$/i.exec(line) ?? [];
    if (name === undefined || name.includes("$")) return line;
    try {
      const found = await images.find(name);
      return found === undefined ? line : `${before}${found.id}${behind}`;
    } catch {
      return line;
    }
  });
  return (await Promise.all(lines)).join("\n");
}

/** The context as a tar archive, with the Dockerfile under a separate name. */
async function packContext(folder: string, name: string, text: string): Promise<Buffer> {
  const own = mkdtempSync(path.join(tmpdir(), "apple-cli-build-"));
  try {
    writeFileSync(path.join(own, name), text);
    const tar = spawn("tar", ["-cf", "-", "-C", folder, ".", "-C", own, name], { stdio: ["ignore", "pipe", "ignore"] });
    const chunks: Buffer[] = [];
    for await (const chunk of tar.stdout) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

function queryOf({ options, images }: Context, file: string, tags: readonly string[]): string {
  const query = new URLSearchParams({
    dockerfile: file,
    rm: "1",
    forcerm: "1",
    nocache: options.has("no-cache") ? "1" : "0",
    labels: JSON.stringify(readLabels(options.all("label"))),
    buildargs: JSON.stringify(Object.fromEntries(options.all("build-arg").map((entry) => entry.split(/=(.*)/s, 2)))),
  });
  for (const tag of tags) query.append("t", images.ownName(readReference(tag)));
  const target = options.one("target");
  if (target !== undefined) query.set("target", target);
  return query.toString();
}

/** Passes the log on as it arrives; returns the reason if the build has failed. */
async function followLog({ say, options }: Context, answer: AsyncIterable<unknown>): Promise<string | undefined> {
  let failed: string | undefined;
  for (const line of (await textOf(answer)).split("\n").filter(Boolean)) {
    const { stream, error } = JSON.parse(line) as { stream?: string; error?: string };
    if (stream !== undefined && stream.trim() !== "" && !options.has("quiet")) say.err(stream.trimEnd());
    failed = error ?? failed;
  }
  return failed;
}

/** Makes an image from a Dockerfile; prints its names. */
export const buildImage: Work = async (context) => {
  const { api, options, say, settings, cwd, folder: place, fault } = context;
  const folder = path.resolve(cwd, options.arguments[0] ?? ".");
  if (!existsSync(folder)) throw refuse(`context dir does not exist ${options.arguments[0] ?? "."}`);
  const output = options.one("output") ?? "type=oci";
  if (output !== "type=oci") throw new NotImitated(`build --output ${output} is not imitated`);
  const tags = options.all("tag").length === 0 ? [randomUUID().toLowerCase()] : options.all("tag");
  const text = findFile(context, folder);
  if (Buffer.byteLength(text) >= maxFileBytes && isAtLeast(settings.version, "1.0.0")) {
    throw new CommandError("invalidArgument", "Dockerfile is too large");
  }
  setBuilder(place, true);
  const file = `apple-cli-${randomUUID()}.dockerfile`;
  const tar = await packContext(folder, file, await withDockerNames(context, text));
  try {
    const answer = await api.stream("POST", `/build?${queryOf(context, file, tags)}`, tar);
    const failed = await followLog(context, answer);
    if (failed !== undefined) throw new CommandError("unknown", failed);
  } catch (error) {
    throw error instanceof DockerError ? new CommandError("unknown", error.message) : error;
  }
  if (fault === "interrupted") throw new ConnectionError("interrupted");
  if (isAtLeast(settings.version, "1.0.0")) for (const tag of tags) say.out(tag);
  else say.out(`Successfully built ${tags.join(", ")}`);
};
