/** Makes the README's picture, docs/first-run.svg, from a real run. */
import { writeFileSync } from "node:fs";
import { record } from "./recording/record.ts";
import { renderRecording } from "./recording/render.ts";

writeFileSync(new URL("../docs/first-run.svg", import.meta.url), renderRecording(record()));
