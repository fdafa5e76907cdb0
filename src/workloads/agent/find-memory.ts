import { createHash } from "node:crypto";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { mebibyte } from "../../base/bytes.ts";
import { runLimitedChild } from "../../base/limited-child.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import { makePrivateFolder } from "../../base/own-folder.ts";
import type { AgentFolders } from "./agent-folders.ts";
import type { MemorySource } from "./read-memory-files.ts";
import type { SearchRequest } from "./search-main.ts";
import type { Kit } from "../../base/kit.ts";

/** What to search for in a group's memory. */
export interface MemoryQuestion {
  readonly folders: Pick<AgentFolders, "workspace" | "global">;
  readonly prompt: string;
  /** Minimum relevance of a passage, from 0 to 1. */
  readonly minRelevance: number;
  /** Of all passages together; 0: no search. */
  readonly maxCharacters: number;
}

/** What was found; null: nothing relevant enough. */
export interface FoundMemory {
  readonly context: string | null;
  /** Problems, one sentence each; the run continues without memory. */
  readonly warnings: readonly string[];
}

/** Finds passages of a group's memory for a prompt. @throws only CANCELLED */
export type FindMemory = (question: MemoryQuestion, signal: AbortSignal | undefined) => Promise<FoundMemory>;

export interface FindMemoryOptions extends Pick<Kit, "platform" | "executable"> {
  /** Folder of the indexes; created if missing, for this user only. */
  readonly folder: string;
  /** This user's id; null if the system has none. */
  readonly uid: number | null;
}

const timeLimitMs = 20_000;
const heapMegabytes = 256;
/** Address space; Node reserves about 1.5 GiB of it at the start. */
const addressSpaceBytes = 4096 * mebibyte;
const maxAnswerBytes = 8 * mebibyte;

const answerSchema = z.strictObject({ context: z.string(), isRebuilt: z.boolean(), isKept: z.boolean() });

/**
 * Searches a group's notes for a prompt in a separate process: agents write the notes, and nothing in them can block
 * this one. The index is kept where agents cannot write.
 */
export function openMemory(options: FindMemoryOptions): FindMemory {
  return async ({ folders, prompt, minRelevance, maxCharacters }, signal) => {
    if (maxCharacters === 0) return { context: null, warnings: [] };
    try {
      const sources = [await sourceOf("group", folders.workspace)];
      if (folders.global !== null) sources.push(await sourceOf("global", folders.global));
      const index = await indexOf(options, folders.workspace.realPath);
      return await search(
        { sources, platform: options.platform, index, prompt, minRelevance, maxCharacters },
        options,
        signal,
      );
    } catch (error) {
      if (error instanceof GloveboxError && error.errorType === "CANCELLED") throw error;
      return { context: null, warnings: ["the group's memory could not be searched; the agent works without it."] };
    }
  };
}

async function search(
  request: SearchRequest,
  { platform, executable }: FindMemoryOptions,
  signal: AbortSignal | undefined,
): Promise<FoundMemory> {
  const { exitCode, stdout } = await runLimitedChild(
    {
      name: "The search in a group's memory",
      command: [executable, `--max-old-space-size=${heapMegabytes}`, "--no-warnings", script()],
      environment: {},
      platform,
      input: JSON.stringify(request),
      timeLimitMs,
      memoryLimitBytes: addressSpaceBytes,
      maxOutputBytes: maxAnswerBytes,
    },
    signal,
  );
  if (exitCode !== 0) throw new Error("The search failed.");
  const { context, isRebuilt, isKept } = answerSchema.parse(JSON.parse(Buffer.from(stdout).toString("utf8")));
  return {
    context: context === "" ? null : context,
    warnings: [
      ...(isRebuilt ? ["the index of the group's memory was broken, and was made anew."] : []),
      ...(isKept ? [] : ["the index of the group's memory could not be kept, and is made for each run."]),
    ],
  };
}

async function sourceOf(name: string, place: OpenPlace): Promise<MemorySource> {
  const { device, inode } = await place.identify();
  return { name, folder: place.realPath, device: String(device), inode: String(inode) };
}

async function indexOf({ folder, uid }: FindMemoryOptions, workspace: string): Promise<string | null> {
  try {
    await makePrivateFolder(folder, uid);
    return path.join(folder, `${createHash("sha256").update(workspace).digest("hex")}.db`);
  } catch {
    return null;
  }
}

function script(): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(new URL(isSource ? "./search-main.ts" : "./search-main.js", import.meta.url));
}
