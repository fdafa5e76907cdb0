import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { PreviewRow } from "../../src/operations/previews-contract.ts";
import { openBrowser } from "../helpers/browser.ts";
import { npmRegistryFault } from "../helpers/npm-registry.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { serveGlovebox } from "../helpers/served-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

const root = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-frameworks-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Framework {
  readonly name: string;
  readonly command: string;
  readonly port: number;
  /** Default: determined by the lockfile. */
  readonly setup?: string;
  /** The file to edit: it contains the word `one`, which its page shows. */
  readonly file: string;
  /** What a broken edit appends to that file. */
  readonly broken: string;
  /** How the resulting alert begins. */
  readonly place: RegExp;
}

/** Not every registry has the packages of every platform, without which a lockfile is incomplete. */
const install = "npm install --no-audit --no-fund";

const frameworks: readonly Framework[] = [
  {
    name: "next",
    command: "NEXT_TELEMETRY_DISABLED=1 npx next dev",
    port: 3000,
    setup: install,
    file: "app/word.jsx",
    broken: "export const = 1;\n",
    place: /^app\/word\.jsx:\d+: /,
  },
  {
    name: "webpack",
    // Its client would otherwise connect to 8080, where there is no page.
    command: "npx webpack serve --port 8080 --client-web-socket-url auto://0.0.0.0:0/ws",
    port: 8080,
    file: "word.js",
    broken: "const = 1;\n",
    place: /^word\.js:\d+: /,
  },
  {
    name: "astro",
    command: "ASTRO_TELEMETRY_DISABLED=1 npx astro dev",
    port: 4321,
    setup: install,
    file: "src/word.js",
    broken: 'import "./missing.js";\n',
    place: /^src\/word\.js(?::\d+)?: /,
  },
  {
    name: "python",
    command: "python3 server.py",
    port: 8000,
    file: "word.py",
    broken: "1 / 0\n",
    place: /^word\.py:\d+: /,
  },
];

describe("previews of other frameworks on docker", () => {
  useGlovebox("docker");

  it.for(frameworks)(
    "$name: a page is updated without a reload, and a broken edit is told of",
    // A slow network takes minutes for what npm installs.
    { timeout: 360_000, retry: 0 },
    async (each, context) => {
      const fault = each.name === "python" ? null : npmRegistryFault();
      if (fault !== null) context.skip(fault);
      await using browser = await openBrowser(context);
      const project = mkdtempSync(path.join(root, `${each.name}-`));
      cpSync(path.join(projectFolder, "test/fixtures/preview-projects", each.name), project, { recursive: true });
      const images = { GLOVEBOX_IMAGE_JAVASCRIPT: testImages.javascript, GLOVEBOX_IMAGE_PYTHON: testImages.python };
      const home = mkdtempSync(path.join(root, "home-"));
      await using server = await serveGlovebox({ ...images, GLOVEBOX_PROJECT_ROOTS: project }, home, "docker");
      const { command, port, setup } = each;
      const limits = { memory_mb: 1_536, timeout_seconds: 1_800 };
      const request = { project_path: project, command, port, setup_command: setup, wait_seconds: 300, limits };
      const started = await server.call("POST", "/api/sandbox/preview", request);
      const { container_id: id, url, ...row } = started.body as PreviewRow;
      expect(row, JSON.stringify(row)).toMatchObject({ status: "running" });
      const tab = await browser.newPage();
      await tab.goto(url, { timeout: 240_000 });
      const shows = (text: string): Promise<unknown> =>
        tab.locator("#word", { hasText: text }).waitFor({ timeout: 240_000 });
      await shows("one");
      await tab.evaluate(`window.marker = "kept"`);
      const file = path.join(project, each.file);
      const edited = (word: string): string => readFileSync(file, "utf8").replace(/one|two/, word);
      writeFileSync(file, edited("two"));
      await shows("two");
      expect(await tab.evaluate(`window.marker`)).toBe("kept");

      interface Told {
        readonly state: string;
        readonly message: string;
      }
      const alerts = async (): Promise<readonly Told[]> => {
        const { body } = await server.call("GET", `/api/alerts?sandbox_id=${id}&kind=preview_error`);
        return (body as { readonly alerts: readonly Told[] }).alerts;
      };
      expect(await alerts()).toEqual([]);
      writeFileSync(file, `${edited("two")}${each.broken}`);
      await until(async () => (await alerts()).length > 0);
      expect((await alerts())[0]).toMatchObject({ state: "start", message: expect.stringMatching(each.place) });
      expect((await server.call("DELETE", `/api/sandbox/preview/${id}`)).status).toBe(200);
      expect((await alerts()).at(-1)).toMatchObject({ state: "end" });
    },
  );
});
