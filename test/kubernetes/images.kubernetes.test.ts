import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { tarOf } from "../../src/base/tar.ts";
import type { Container, Engine } from "../../src/engines/engine.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { RunningProcess } from "../helpers/running-process.ts";
import { testImages } from "../helpers/test-images.ts";
import { imageOnNode } from "./node-image.ts";
import { kubernetesSubject } from "./subject.ts";

let engine: Engine;
const containers: Container[] = [];
beforeAll(async () => {
  engine = await kubernetesSubject.make();
});
afterAll(async () => {
  await Promise.allSettled(containers.map((container) => container.remove()));
  await engine.close();
});

/** An image of the node with these instructions after its `FROM`. */
function imageWith(instructions: string): AsyncDisposable & { readonly reference: string } {
  const reference = `glovebox-test/own:${createId("image").replace("_", "-")}`;
  const dockerfile = `FROM ${testImages.python}\n${instructions}\n`;
  const disposal = imageOnNode(reference, tarOf([{ path: "Dockerfile", content: Buffer.from(dockerfile) }]));
  return { reference, [Symbol.asyncDispose]: () => disposal[Symbol.asyncDispose]() };
}

async function started(image: string, scratch: readonly string[] = ["/work"]): Promise<Container> {
  const sandbox = createId("sbx");
  const container = await engine.create({
    ...{ name: `glovebox-${sandbox}`, image, labels: { "glovebox.sandbox": sandbox } },
    limits: { cpus: 1, memoryBytes: 134_217_728, pids: 64 },
    scratch: scratch.map((path) => ({ path, sizeBytes: 8_388_608 })),
  });
  containers.push(container);
  await container.start();
  return container;
}

async function said(container: Container, code: string, environment = {}): Promise<string> {
  const process = new RunningProcess(await container.exec({ command: ["python3", "-c", code], environment }));
  const { stdout, stderr } = await process.finish();
  return `${stderr.toString()}${stdout.toString()}`.trim();
}

/** Says of each folder whether a file can be made in it. */
const writes = (folders: readonly string[]): string => `
import os
for folder in ${JSON.stringify(folders)}:
    try:
        open(folder + "/new", "w").write("x")
        print("written")
    except OSError as error:
        print(error.errno, os.listdir(folder))
`;

describe("an image of a cluster", () => {
  it("gives its variables (ENV) to programs, which can be given others, and none is the cluster's", async () => {
    await using image = imageWith(
      'ENV GREETING="hello there" EMPTY= PATH=/opt/own:$PATH KUBERNETES_SERVICE_HOST=10.0.0.9',
    );
    const container = await started(image.reference);
    const code = "import os; print({name: value for name, value in os.environ.items() if name not in ('LC_CTYPE',)})";
    const shown = await said(
      container,
      "import os; print(repr(os.environ['GREETING']), repr(os.environ['EMPTY']), os.environ['PATH'])",
    );
    expect(shown).toMatch(/^'hello there' '' \/opt\/own:\/.*\/bin$/);
    expect(await said(container, code)).not.toMatch(/KUBERNETES|SERVICE_|_PORT/);
    const own = { GREETING: "mine" };
    expect(await said(container, "import os; print(os.environ['GREETING'])", own)).toBe("mine");
  });

  it("has its volumes (VOLUME) on no disk: nothing runs before they are known, then they are read-only, or scratch", async () => {
    const made = "RUN mkdir -m 777 /data /more && touch /data/of-image && chmod 666 /data/of-image";
    await using image = imageWith(`${made}\nVOLUME /data /more`);
    const first = await failureOf(started(image.reference), "UNSUPPORTED");
    expect(first.message).toMatch(
      /folders on its disk without a bound \(VOLUME\): \/(?:data, \/more|more, \/data); so nothing was run/,
    );
    const second = await started(image.reference);
    expect(await said(second, writes(["/data", "/more", "/work"]))).toBe("30 []\n30 []\nwritten");
    const third = await started(image.reference, ["/work", "/data"]);
    expect(await said(third, writes(["/data", "/more"]))).toBe("written\n30 []");
  });

  it("has its volumes covered from the first sandbox on where it was pulled", async () => {
    await using image = imageWith("RUN mkdir -m 777 /data\nVOLUME /data");
    await engine.images.pull(image.reference);
    const container = await started(image.reference);
    expect(await said(container, writes(["/data"]))).toBe("30 []");
  });
});
