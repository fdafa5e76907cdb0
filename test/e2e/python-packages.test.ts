import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { connectMcp, revisions } from "../helpers/mcp-client.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { pythonIndex } from "../helpers/python-index.ts";
import { testImages } from "../helpers/test-images.ts";

const index = pythonIndex();
const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-packages-")));
afterAll(() => execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", directory]));

/** As a model would write it. */
const code = `
import io, json
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import requests
import yaml
from lxml import etree
from PIL import Image
from pydantic import BaseModel
from sklearn.linear_model import LinearRegression

class Point(BaseModel):
    x: float
    y: float

points = [Point(**each) for each in yaml.safe_load("[{x: 1, y: 2}, {x: 2, y: 4}, {x: 3, y: 6}]")]
frame = pd.DataFrame([each.model_dump() for each in points])
slope = LinearRegression().fit(frame[["x"]], frame["y"]).coef_[0]
frame.plot(x="x", y="y")
plt.savefig("plot.png")
print(round(float(slope), 3), Image.open("plot.png").size[0] > 100, etree.fromstring("<a><b/></a>")[0].tag)
print(requests.Request("GET", "http://a.example", params={"q": 1}).prepare().url, int(np.arange(4).sum()))
print(np.__cached__.startswith(np.__file__.rsplit("/", 1)[0]), __import__("os").path.exists(np.__cached__))
`;
const stdout = "2.0 True b\nhttp://a.example/?q=1 6\nTrue True\n";
const names = ["lxml", "matplotlib", "numpy", "pandas", "Pillow", "pydantic", "PyYAML", "requests", "scikit-learn"];
const request = { language: "python", code, timeout_seconds: 120, limits: { memory_mb: 1024 } } as const;

describe.each(engines)("real Python packages on %s", (engine) => {
  const settings = {
    images: { ...testImages, session: testImages.python },
    packages: { directory },
    network: { private_hosts: [...index.fileHosts] },
  };
  const glovebox = useGlovebox(engine, { settings });
  beforeEach((context) => {
    if (index.fault !== null) context.skip(index.fault);
  });

  it("show tables and plots in a session that keeps variables", async () => {
    const asked = { language: "python" as const, packages: ["pandas", "matplotlib"], timeout_seconds: 120 };
    const table = await glovebox().runCode({
      ...asked,
      keep_variables: true,
      code: "import pandas as pd\nframe = pd.DataFrame({'a': [1, 2]})\nframe",
    });
    expect(table.displays?.map(({ media_type: type }) => type)).toEqual([
      ...["text/plain", "text/html", "application/vnd.glovebox.table+json"],
    ]);
    expect(JSON.parse(table.displays?.[2]?.content ?? "")).toEqual({ a: [1, 2] });
    expect(table.displays?.[0]?.content).toMatch(/a\n0 +1\n1 +2/);
    const code = "import matplotlib.pyplot as plt\n_ = plt.plot(frame['a'], label='of a')\nplt.show()\n'after'";
    const plot = await glovebox().runCode({ ...asked, session_id: table.session_id, code });
    expect(plot).toMatchObject({ outcome: "completed", variables_lost: false });
    expect(plot.displays?.map(({ content }) => content.slice(0, 11))).toEqual([
      ...["<Figure siz", "iVBORw0KGgo", '{"type": "l', "'after'"],
    ]);
    expect(plot.stderr).toBe("");
    expect(JSON.parse(plot.displays?.[2]?.content ?? "")).toMatchObject({
      ...{ type: "line", title: null, x_scale: "linear", y_label: null },
      elements: [
        {
          label: "of a",
          points: [
            [0, 1],
            [1, 2],
          ],
        },
      ],
    });
    await glovebox().endSession({ session_id: table.session_id });
  });

  it("are there by import, twice at once, by name, and in a session", async () => {
    const answers = await Promise.all([
      glovebox().execute({ ...request, packages: "auto", artifacts: ["*.png"] }),
      glovebox().execute({ ...request, packages: names }),
    ]);
    for (const answer of answers) expect(answer.stdout, answer.stderr).toBe(stdout);
    const lower = names.map((name) => name.toLowerCase());
    const [found = [], named = []] = answers.map(({ packages_installed: installed }) =>
      installed?.map((each) => each.split("==")[0]?.toLowerCase()),
    );
    expect(named).toEqual(lower);
    // What an image's or this machine's Python already has is not among the packages that are found.
    expect(lower).toEqual(expect.arrayContaining(found));
    expect(found).toContain("scikit-learn");
    expect(answers[0].artifacts).toMatchObject([{ path: "plot.png", type: "image", media_type: "image/png" }]);
    const first = await glovebox().runCode({ ...request, packages: [], code: "print(1)" });
    const call = await glovebox().runCode({ ...request, packages: "auto" });
    expect(call.stdout, call.stderr).toBe(stdout);
    expect(call).toMatchObject({ container_id: first.container_id, restarted: false });
  }, 600_000);

  it("draw a plot that a model sees", async () => {
    const agent = await connectMcp(revisions[1], ["--engine", engine, "--answer-within", "8m"], {
      GLOVEBOX_PACKAGES_DIR: directory,
      GLOVEBOX_NETWORK_PRIVATE_HOSTS: index.fileHosts.join(","),
    });
    try {
      const drawing = { ...request, packages: "auto", artifacts: ["*.png"] };
      const plot = await agent.call("execute_code", drawing, { timeout: 500_000 });
      expect(
        plot.content.map(({ type }) => type),
        JSON.stringify(plot.structuredContent),
      ).toEqual(["text", "image"]);
      const uri = /"(glovebox:[^"\\]+)/.exec(JSON.stringify(plot.structuredContent).replaceAll("\\", ""))?.[1];
      const viewed = await agent.call("view_artifact", { uri });
      expect(viewed.content).toContainEqual(expect.objectContaining({ type: "image", mimeType: "image/png" }));
    } finally {
      await agent.client.close();
    }
  }, 600_000);
});
