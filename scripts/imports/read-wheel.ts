import { execFile } from "node:child_process";
import { promises as files } from "node:fs";
import { fileURLToPath } from "node:url";

/** A wheel's list of files, or why there is none. */
export type WheelListing = { readonly files: readonly string[] } | { readonly unknown: string };

/** Systems whose wheels are looked at, one after another, if there are none for this machine's. */
const otherSystems = ["manylinux_2_28_x86_64", "win_amd64", "macosx_14_0_arm64"];

const maxTailBytes = 256 * 1024;
const maxDirectoryBytes = 32 * 1024 * 1024;
const timeoutMs = 90_000;

/** Lists the files of a distribution's newest wheel. Only the end of the wheel is read, where a zip archive has its list. */
export async function readWheel(distribution: string): Promise<WheelListing> {
  const found = await wheelUrl(distribution);
  if ("unknown" in found) return found;
  try {
    return { files: await listArchive(found.url) };
  } catch (error) {
    return { unknown: error instanceof Error ? error.message : String(error) };
  }
}

/** Asks pip, which knows this machine's index, proxies and certificates. */
async function wheelUrl(distribution: string): Promise<{ readonly url: string } | { readonly unknown: string }> {
  const platforms = otherSystems.map((system) => ["--platform", system, "--python-version", "3.12", "--target", "."]);
  let reason = "";
  for (const platform of [[], ...platforms]) {
    const options = ["--dry-run", "--ignore-installed", "--quiet", "--no-deps", "--only-binary", ":all:"];
    const answer = await pip(["install", ...options, "--report", "-", ...platform, distribution]);
    if ("unknown" in answer) {
      reason ||= answer.unknown;
      continue;
    }
    const { install } = JSON.parse(answer.stdout) as {
      readonly install: readonly { readonly download_info: { readonly url: string } }[];
    };
    const url = install[0]?.download_info.url;
    if (url !== undefined) return { url };
  }
  return { unknown: `no wheel: ${reason}` };
}

function pip(args: readonly string[]): Promise<{ readonly stdout: string } | { readonly unknown: string }> {
  const options = { timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile("python3", ["-m", "pip", ...args], options, (error, stdout, stderr) => {
      if (error === null) resolve({ stdout });
      else resolve({ unknown: stderr.trim().split("\n").at(-1) ?? error.message });
    });
  });
}

/** A part of a file: the last bytes, or those from `start` on. */
interface Part {
  readonly bytes: Buffer;
  readonly start: number;
}

async function listArchive(url: string): Promise<readonly string[]> {
  const tail = await read(url, { last: maxTailBytes });
  const end = tail.bytes.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end === -1 || end + 22 > tail.bytes.length) throw new Error("the wheel is not a zip archive");
  const size = tail.bytes.readUInt32LE(end + 12);
  const offset = tail.bytes.readUInt32LE(end + 16);
  if (size > maxDirectoryBytes) throw new Error("the wheel's list of files is too long");
  const whole = offset >= tail.start ? tail : await read(url, { start: offset, length: size });
  return namesIn(whole.bytes.subarray(offset - whole.start, offset - whole.start + size));
}

/** The names in a zip archive's central directory. */
function namesIn(directory: Buffer): readonly string[] {
  const names: string[] = [];
  for (let at = 0; at + 46 <= directory.length;) {
    if (directory.readUInt32LE(at) !== 0x02_01_4b_50) throw new Error("the wheel's list of files is damaged");
    const [name, extra, comment] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field));
    const start = at + 46;
    names.push(directory.toString("utf8", start, start + (name ?? 0)));
    at = start + (name ?? 0) + (extra ?? 0) + (comment ?? 0);
  }
  return names;
}

type Range = { readonly last: number } | { readonly start: number; readonly length: number };

async function read(url: string, range: Range): Promise<Part> {
  if (url.startsWith("file:")) {
    const bytes = await files.readFile(fileURLToPath(url));
    return { bytes, start: 0 };
  }
  const value = "last" in range ? `bytes=-${range.last}` : `bytes=${range.start}-${range.start + range.length - 1}`;
  const response = await fetch(url, { headers: { range: value }, signal: AbortSignal.timeout(timeoutMs) });
  const start = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1];
  // A server may answer with the whole of a small file.
  const isWhole =
    response.status === 200 && Number(response.headers.get("content-length") ?? Infinity) <= maxDirectoryBytes;
  if (!isWhole && (response.status !== 206 || start === undefined)) {
    await response.body?.cancel();
    throw new Error(`the index gives no parts of files (status ${response.status})`);
  }
  return { bytes: Buffer.from(await response.arrayBuffer()), start: isWhole ? 0 : Number(start) };
}
