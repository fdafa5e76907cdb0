import path from "node:path";
import { bunTargetHere } from "../base/bun-here.ts";
import { bunVersion } from "../base/bun-packages.ts";
import { fetchBun } from "../base/fetch-bun.ts";
import { bunArchives } from "../config/host/bun-archives.ts";
import { readPackageVersion } from "../config/host/package-version.ts";
import { embeddedEngine } from "../config/engine-words.ts";
import { exportPrepared } from "../workloads/export-prepared.ts";
import { importPrepared } from "../workloads/import-prepared.ts";
import type { PreparedFile } from "../workloads/manifest.ts";
import { callListener } from "./handling/call-events.ts";
import { handle } from "./handling/handler.ts";
import { defaultImages, imageEngine, templateImages } from "./image-engine.ts";
import { exportPreparedContract, importPreparedContract, type PreparedResponse } from "./prepared-contract.ts";

/** `export_prepared`: images and Bun for a machine without a network. */
export const exportPreparedHandler = handle(exportPreparedContract, async (platform, request, call) => {
  const { host, config } = platform;
  const engine = request.engine === embeddedEngine ? null : await imageEngine(platform, request.engine, call);
  const references = [...defaultImages(config), ...(request.e2b === true ? templateImages(config) : [])];
  const images = engine === null ? [] : [...new Set(references)].map((reference) => ({ engine, reference }));
  const target = request.engine === undefined || engine === null ? bunTargetHere(host) : null;
  const bun =
    target === null
      ? null
      : { target, archive: () => fetchBun(target, { ...host, bunArchives: bunArchives(host), signal: call.signal }) };
  const files = await exportPrepared(
    { images, bun },
    {
      ...{ folder: path.resolve(host.workingDirectory, request.folder), uid: host.uid },
      ...{ version: readPackageVersion(), signal: call.signal, onProgress: callListener(call).onProgress },
    },
  );
  return toWire(files);
});

/** `import_prepared`: imports such a folder. */
export const importPreparedHandler = handle(importPreparedContract, async (platform, request, call) => {
  const { host } = platform;
  const isEmbedded = request.engine === embeddedEngine;
  const files = await importPrepared({
    folder: path.resolve(host.workingDirectory, request.folder),
    uid: host.uid,
    bunFolder: bunArchives(host),
    engine: isEmbedded ? null : () => imageEngine(platform, request.engine, call),
    signal: call.signal,
    onProgress: callListener(call).onProgress,
  });
  return toWire(files);
});

function toWire(files: readonly PreparedFile[]): PreparedResponse {
  return {
    files: files.map((row) => ({
      file: row.file,
      what: row.kind === "image" ? `image ${row.reference} (${row.engine})` : `Bun ${bunVersion} for ${row.target}`,
      sha256: row.sha256,
      size_bytes: row.size_bytes,
    })),
  };
}
