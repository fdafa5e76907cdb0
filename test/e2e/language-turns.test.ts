import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { places, useGlovebox } from "../helpers/open-glovebox.ts";
import { openPreloadGlovebox, type PreloadGlovebox } from "../helpers/preload-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

type Language = NonNullable<RunCodeRequest["language"]>;
type RunCode = (request: RunCodeRequest) => Promise<RunCodeResponse>;

const languages: readonly Language[] = ["typescript", "javascript", "python"];

/** Each prints a text that no other program of the session prints. */
const programs: Readonly<Record<Language, (mark: string) => string>> = {
  typescript: (mark) =>
    `enum Mark { One = "${mark}" }\nconst mark: string = Mark.One;\nconsole.log("typescript", mark);`,
  javascript: (mark) => `console.log("javascript", "${mark}");`,
  python: (mark) => `print("python", "${mark}")`,
};

/** For each language: twice the same one, then each of the others, then the first one again. */
const turns: readonly Language[] = [...languages.flatMap((language) => [language, language]), ...languages];

async function expectOwnPrograms(run: RunCode): Promise<void> {
  let session: Pick<RunCodeRequest, "session_id"> = {};
  for (const [index, language] of turns.entries()) {
    const mark = `program-${index}`;
    const response = await run({ language, code: programs[language](mark), packages: [], ...session });
    expect(response, `${language}, call ${index}: ${response.stderr}`).toMatchObject({
      outcome: "completed",
      stdout: `${language} ${mark}\n`,
      stderr: "",
    });
    session = { session_id: response.session_id };
  }
}

describe.each(places)("a session on $name", ({ engine, runtime }) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } }, runtime);

  it("runs the program of each call after any other language", async () => {
    await expectOwnPrograms((request) => glovebox().runCode({ ...runtime, ...request }));
  });
});

describe.each([
  ["as another user", false],
  ["as ourselves", true],
])("a session at isolation preload, with programs that run %s,", (_, asOurselves) => {
  let glovebox: PreloadGlovebox;
  beforeAll(async () => {
    glovebox = await openPreloadGlovebox({ asOurselves });
  });
  afterAll(() => glovebox[Symbol.asyncDispose]());

  it("runs the program of each call after any other language", async () => {
    await expectOwnPrograms((request) => glovebox.runCode(request));
  });

  it("lets no program leave one that runs in place of the next", async () => {
    const plant = [
      "import os, tempfile",
      "for folder in (tempfile.gettempdir(), os.getcwd(), os.path.dirname(os.path.abspath(__file__))):",
      "  for name in ('.glovebox', 'compiled'):",
      "    place = folder + '/' + name + '/compiled' + os.path.dirname(os.path.abspath(__file__))",
      "    os.makedirs(place, exist_ok=True)",
      "    for file in ('main.ts', 'main.js'): open(place + '/' + file, 'w').write('console.log(\"planted\")')",
    ].join("\n");
    const first = await glovebox.runCode({ language: "python", code: plant, packages: [] });
    expect(first).toMatchObject({ outcome: "completed", stderr: "" });
    for (const language of languages) {
      const code = programs[language]("own");
      const response = await glovebox.runCode({ language, code, packages: [], session_id: first.session_id });
      expect(response).toMatchObject({ outcome: "completed", stdout: `${language} own\n`, stderr: "" });
    }
  });

  it("keeps its files, whatever a program has put where a runner might be", async () => {
    const plant = [
      "import os, tempfile",
      "os.makedirs('kept')",
      "open('kept/file', 'w').write('here')",
      "os.symlink(os.path.abspath('kept'), os.path.join(tempfile.gettempdir(), '.glovebox'))",
    ].join("\n");
    const first = await glovebox.runCode({ language: "python", code: plant, packages: [] });
    expect(first).toMatchObject({ outcome: "completed", stderr: "" });
    const session = { session_id: first.session_id, packages: [] };
    await glovebox.runCode({ language: "typescript", code: programs.typescript("one"), ...session });
    const show = { language: "python", code: "print(open('kept/file').read())", ...session } as const;
    expect(await glovebox.runCode(show)).toMatchObject({ stdout: "here\n", stderr: "" });
  });

  it("leaves nothing of a call's runner among the session's files", async () => {
    const look = "import os, tempfile\nprint(sorted(os.listdir(tempfile.gettempdir())))";
    const python = (session_id?: string): Promise<RunCodeResponse> =>
      glovebox.runCode({ language: "python", code: look, packages: [], ...(session_id && { session_id }) });
    const before = await python();
    const session = { session_id: before.session_id, packages: [] };
    await glovebox.runCode({ language: "typescript", code: programs.typescript("one"), ...session });
    await glovebox.runCode({ language: "javascript", code: programs.javascript("two"), ...session });
    expect((await python(before.session_id)).stdout).toBe("[]\n");
  });
});
