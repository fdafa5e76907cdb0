import { text } from "node:stream/consumers";
import { MemoryIndex, searchIndex, type MemorySearch } from "./memory-index.ts";
import { readMemoryFiles, type MemorySource } from "./read-memory-files.ts";

/** The request to this process. */
export interface SearchRequest extends MemorySearch {
  readonly sources: readonly MemorySource[];
  readonly platform: NodeJS.Platform;
  /** Path of the index; null: it is built just for this search. */
  readonly index: string | null;
}

/** Its answer. */
export interface SearchAnswer {
  readonly context: string;
  /** Whether the index was broken and has been rebuilt. */
  readonly isRebuilt: boolean;
  /** Whether the index could not be stored. */
  readonly isKept: boolean;
}

function answer(request: SearchRequest, file: string | null): SearchAnswer {
  let isRebuilt = false;
  const index = MemoryIndex.open(file, () => void (isRebuilt = true));
  try {
    index.update(() => readMemoryFiles(request.sources, request.platform));
    return { context: searchIndex(index, request), isRebuilt, isKept: file !== null };
  } finally {
    index.close();
  }
}

function answerAnyway(request: SearchRequest): SearchAnswer {
  try {
    return answer(request, request.index);
  } catch (error) {
    if (request.index === null) throw error;
    return answer(request, null);
  }
}

process.stdout.write(JSON.stringify(answerAnyway(JSON.parse(await text(process.stdin)) as SearchRequest)));
