import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { DnsServer } from "./dns-server.ts";
import { FarSide } from "./far-side.ts";

/** A package of the registry: its files by path, including a package.json or a METADATA. */
interface TestPackage {
  readonly name: string;
  readonly version: string;
  readonly files: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  /** Only for npm: the targets of symbolic links, by path. */
  readonly links?: Readonly<Record<string, string>>;
  /** When it was published; default: not stated. */
  readonly published?: Date;
  /** Only for a wheel: the requirements that it declares. */
  readonly requires?: string;
  /** Only for npm: what it depends on. */
  readonly dependencies?: Readonly<Record<string, string>>;
}

const wheelScript = `
import json, sys, zipfile
name, version, target = sys.argv[1:4]
info = f"{name}-{version}.dist-info"
files = json.load(sys.stdin)
needs = f"Requires-Dist: {sys.argv[4]}\\n" if sys.argv[4] else ""
files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n{needs}"
files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
files[f"{info}/RECORD"] = "".join(f"{path},,\\n" for path in [*files, f"{info}/RECORD"])
with zipfile.ZipFile(target, "w") as wheel:
    for path, text in files.items(): wheel.writestr(path, text)
`;

/**
 * An npm registry and a Python index on loopback under their own names, to which this process's environment points npm and
 * pip. Files of packages whose name ends in `slow` are begun and never finished.
 */
export class PackageRegistry implements Disposable {
  /** Whether it resets every connection, as if it could not be reached. */
  isDown = false;
  readonly #name: string;
  readonly #folder: string;
  readonly #files = new Map<string, Buffer>();
  readonly #npm = new Map<string, Record<string, object>>();
  readonly #python = new Map<string, string[]>();
  readonly #published = new Map<string, string>();
  readonly #server: FarSide;
  readonly #dns: DnsServer;

  /** `name`: the host name to reach it by; tools outside a sandbox cannot resolve our names. */
  static async start(name = "registry.test"): Promise<PackageRegistry> {
    const holder: { registry?: PackageRegistry } = {};
    const server = await FarSide.start((request, response) => holder.registry?.answer(request, response));
    holder.registry = new PackageRegistry(name, server, await DnsServer.start(() => [{ a: "127.0.0.1" }]));
    return holder.registry;
  }

  private constructor(name: string, server: FarSide, dns: DnsServer) {
    this.#name = name;
    this.#folder = mkdtempSync(path.join(tmpdir(), "glovebox-registry-"));
    this.#server = server;
    this.#dns = dns;
    process.env["npm_config_registry"] = `${this.base}/`;
    process.env["PIP_INDEX_URL"] = `${this.base}/simple`;
  }

  /** Settings with which sandboxes can reach it. */
  get network(): { readonly dns_servers: string[]; readonly private_hosts: string[] } {
    return { dns_servers: [this.#dns.address], private_hosts: [`registry.test:${this.#server.port}`] };
  }

  /** How often files of packages with this name prefix were requested. */
  downloads(name: string): number {
    return this.#server.requests.filter((request) => request.includes(`/files/${name}`)).length;
  }

  /** All requests, in order. */
  get requests(): readonly string[] {
    return this.#server.requests;
  }

  forget(): void {
    this.#server.forget();
  }

  addNpm({ name, version, files, scripts, dependencies, links = {}, published }: TestPackage): void {
    const folder = mkdtempSync(path.join(this.#folder, "npm-"));
    write(path.join(folder, "package"), {
      "package.json": JSON.stringify({ name, version, scripts, dependencies }),
      ...files,
    });
    for (const [at, target] of Object.entries(links)) symlinkSync(target, path.join(folder, "package", at));
    const file = `${name.replace("/", "-")}-${version}.tgz`;
    const tarball = execFileSync("tar", ["-czf", "-", "-C", folder, "package"], { maxBuffer: 2 ** 30 });
    this.#files.set(file, tarball);
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const dist = { tarball: `${this.base}/files/${file}`, integrity };
    if (published !== undefined) this.#published.set(`${name}@${version}`, published.toISOString());
    const hasInstallScript = scripts !== undefined;
    const versions = this.#npm.get(name) ?? {};
    this.#npm.set(name, { ...versions, [version]: { name, version, scripts, dependencies, hasInstallScript, dist } });
  }

  addWheel({ name, version, files, requires = "", published }: TestPackage): void {
    const file = `${name}-${version}-py3-none-any.whl`;
    if (published !== undefined) this.#published.set(file, published.toISOString());
    const target = path.join(this.#folder, file);
    execFileSync("python3", ["-c", wheelScript, name, version, target, requires], { input: JSON.stringify(files) });
    this.#addPython(name, file, readFileSync(target));
  }

  /** A package that must be built, by its own code. */
  addSource({ name, version, files }: TestPackage): void {
    const folder = mkdtempSync(path.join(this.#folder, "source-"));
    write(path.join(folder, `${name}-${version}`), files);
    const file = `${name}-${version}.tar.gz`;
    this.#addPython(name, file, execFileSync("tar", ["-czf", "-", "-C", folder, `${name}-${version}`]));
  }

  /** A repository at `git/NAME.git`, for clones over HTTP; executable files end in `.sh`. */
  addGit(name: string, files: Readonly<Record<string, string>>): void {
    const work = mkdtempSync(path.join(this.#folder, "work-"));
    write(work, files);
    const bare = path.join(this.#folder, "git", `${name}.git`);
    execFileSync(
      "sh",
      [
        "-ec",
        `cd "$1"
find . -name '*.sh' -exec chmod +x {} +
git init -q && git add -A && git -c user.name=test -c user.email=test@test.test commit -q -m test
git clone -q --bare . "$2" && cd "$2" && git update-server-info`,
        "sh",
        work,
        bare,
      ],
      { stdio: ["ignore", "ignore", "inherit"] },
    );
  }

  /** A file at `/files/NAME` that belongs to a package of the Python index. */
  addPythonFile(name: string, file: string, content: Buffer, published?: Date): void {
    if (published !== undefined) this.#published.set(file, published.toISOString());
    this.#addPython(name, file, content);
  }

  [Symbol.dispose](): void {
    delete process.env["npm_config_registry"];
    delete process.env["PIP_INDEX_URL"];
    this.#server.close();
    this.#dns.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.isDown) return void request.socket.destroy();
    const url = decodeURIComponent(request.url ?? "").split("?")[0] ?? "";
    const file = /^\/files\/(.+)$/.exec(url)?.[1];
    const page = /^\/simple\/([^/]+)\/$/.exec(url)?.[1];
    const body = file === undefined ? null : this.#files.get(file);
    if (file !== undefined && body !== null && body !== undefined) {
      response.writeHead(200, { "content-length": body.length });
      if (/^[\w-]*slow-/.test(file)) response.write(body.subarray(0, 10));
      else response.end(body);
      return;
    }
    if (url.startsWith("/git/")) {
      const object = path.join(this.#folder, path.posix.normalize(url));
      const isThere = existsSync(object) && statSync(object).isFile();
      response.writeHead(isThere ? 200 : 404).end(isThere ? readFileSync(object) : "");
      return;
    }
    const links = page === undefined ? undefined : this.#python.get(page);
    const versions = this.#npm.get(url.slice(1));
    const isTimed = links?.some((link) => this.#published.has(link)) === true;
    if (links !== undefined && isTimed) {
      response
        .writeHead(200, { "content-type": "application/vnd.pypi.simple.v1+json" })
        .end(
          JSON.stringify({ meta: { "api-version": "1.1" }, name: page, files: links.map((link) => this.#file(link)) }),
        );
    } else if (links !== undefined) {
      const anchors = links.map((link) => `<a href="${this.base}/files/${link}">${link}</a>`);
      response.writeHead(200, { "content-type": "text/html" }).end(`<!DOCTYPE html><html>${anchors.join("\n")}</html>`);
    } else if (versions === undefined) response.writeHead(404, { "content-type": "application/json" }).end("{}");
    else {
      const latest = Object.keys(versions).at(-1);
      response.writeHead(200, { "content-type": "application/json" }).end(
        JSON.stringify({
          name: url.slice(1),
          "dist-tags": { latest },
          versions,
          ...this.#times(url.slice(1), versions),
        }),
      );
    }
  }

  /** Its address, of which the packages' files are `/files/NAME`. */
  get base(): string {
    return `http://${this.#name}:${this.#server.port}`;
  }

  /** The package as an index describes it in JSON. */
  #file(link: string): object {
    const times = { "upload-time": this.#published.get(link) };
    return { filename: link, url: `${this.base}/files/${link}`, hashes: {}, ...times };
  }

  #times(name: string, versions: Readonly<Record<string, object>>): object {
    const times = Object.keys(versions).flatMap((version) => {
      const time = this.#published.get(`${name}@${version}`);
      return time === undefined ? [] : [[version, time]];
    });
    return times.length === 0 ? {} : { time: Object.fromEntries(times) as object };
  }

  #addPython(name: string, file: string, content: Buffer): void {
    this.#files.set(file, content);
    const usual = name.replaceAll("_", "-");
    this.#python.set(usual, [...(this.#python.get(usual) ?? []), file]);
  }
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}
